import { createRequire, syncBuiltinESMExports } from 'node:module'
import type { Chance } from './chance.ts'

interface Timer {
  readonly at: number
  readonly work: () => void
  unref(): Timer
  ref(): Timer
}

const realImmediate = setImmediate
const crypto = createRequire(import.meta.url)('node:crypto') as typeof import('node:crypto')

/** The beginning of every history, in ms since the epoch. */
const dawn = Date.parse('2026-04-26T10:00:00.000Z')

/** A timer that starts itself again without end stops time. */
const timersAtOnceMax = 20_000
/** So does work that goes on without time. */
const stepsAtOnceMax = 50_000

/**
 * Time and chance of the simulated world: while it is entered, every clock, timer and random number of this process is its own. Nothing in it
 * waits for the real world, so all that is asynchronous is a promise or an entry of its queues, and a history is a function of its seed.
 */
export class Realm implements Disposable {
  /** ms since the beginning, by a clock that nobody sets. */
  now = 0
  /** How far the wall clock is ahead of that. */
  offset = dawn
  /** Timers that have run. */
  timersRun = 0
  /** Entries of the queue of immediates that have run. */
  stepsRun = 0
  readonly #ids: Chance
  readonly #order: Chance
  /** How often something other than the first of what is ready runs next. */
  readonly #disorder: number
  #timers: Timer[] = []
  #ready: (() => void)[] = []
  #restore: (() => void)[] = []

  constructor(chance: { readonly ids: Chance; readonly order: Chance }, disorder = 0) {
    this.#ids = chance.ids
    this.#order = chance.order
    this.#disorder = disorder
    this.#enter()
  }

  get wall(): number {
    return this.now + this.offset
  }

  /** Runs `work` after a time that no set clock changes. */
  after(delayMs: number, work: () => void): Timer {
    const timer: Timer = {
      at: this.now + Math.max(0, delayMs || 0),
      work,
      unref: () => timer,
      ref: () => timer,
    }
    this.#timers.splice(this.#timers.findLastIndex(({ at }) => at <= timer.at) + 1, 0, timer)
    return timer
  }

  cancel(timer: unknown): void {
    const at = this.#timers.indexOf(timer as Timer)
    if (at >= 0) this.#timers.splice(at, 1)
  }

  /** Runs until nothing is left that can go on without time. */
  async settle(): Promise<void> {
    for (let steps = 0; ; steps++) {
      if (steps > stepsAtOnceMax) throw new Error('Time stands still: work without end.')
      // Promises, and what they start, run dry before the real loop goes on.
      await new Promise<void>((resolve) => realImmediate(resolve))
      if (this.#ready.length === 0) return
      const isOdd = this.#disorder > 0 && this.#ready.length > 1 && this.#order.isLess(this.#disorder)
      const [next] = this.#ready.splice(isOdd ? this.#order.below(this.#ready.length) : 0, 1)
      this.stepsRun++
      next!()
    }
  }

  /** Lets time pass, and runs what falls due on the way. */
  async pass(ms: number): Promise<void> {
    const until = this.now + ms
    await this.settle()
    for (let at = -1, atOnce = 0; this.#timers.length > 0 && this.#timers[0]!.at <= until; ) {
      const next = this.#timers.shift()!
      this.now = Math.max(this.now, next.at)
      atOnce = this.now === at ? atOnce + 1 : 0
      at = this.now
      if (atOnce > timersAtOnceMax) throw new Error('Time stands still: timers without end.')
      this.timersRun++
      next.work()
      await this.settle()
    }
    this.now = Math.max(this.now, until)
  }

  /** Time passes, and nobody can do anything: the process was stopped. */
  jump(ms: number): void {
    this.now += ms
  }

  [Symbol.dispose](): void {
    for (const restore of this.#restore.splice(0)) restore()
    syncBuiltinESMExports()
  }

  #enter(): void {
    const later = (work: (...args: never[]) => void, ms?: number, ...args: never[]) =>
      this.after(ms ?? 0, () => work(...args))
    const cancel = (timer: unknown) => this.cancel(timer)
    this.#replace(globalThis, {
      setTimeout: later,
      clearTimeout: cancel,
      setInterval: (work: () => void, ms: number) => this.#repeat(work, ms),
      clearInterval: (timer: Timer) => timer?.work(),
      setImmediate: (work: (...args: never[]) => void, ...args: never[]) => void this.#ready.push(() => work(...args)),
    })
    this.#replace(Date, { now: () => this.wall })
    this.#replace(performance, { now: () => this.now })
    this.#replace(Math, { random: () => this.#ids.fraction() })
    const randomUUID = () => this.#uuid()
    const randomBytes = (size: number) => this.#bytes(size)
    const getRandomValues = <Bytes extends Uint8Array>(bytes: Bytes): Bytes => {
      this.#ids.fill(bytes)
      return bytes
    }
    this.#replace(crypto, { randomUUID, randomBytes })
    this.#replace(globalThis.crypto, { randomUUID, getRandomValues })
    syncBuiltinESMExports()
  }

  #repeat(work: () => void, ms: number): Timer {
    const again = (): void => {
      work()
      if (!isOver) running = this.after(ms, again)
    }
    let isOver = false
    let running = this.after(ms, again)
    const handle: Timer = {
      at: 0,
      work: () => {
        isOver = true
        this.cancel(running)
      },
      unref: () => handle,
      ref: () => handle,
    }
    return handle
  }

  #replace(owner: object, members: Readonly<Record<string, unknown>>): void {
    for (const [name, value] of Object.entries(members)) {
      const was = Object.getOwnPropertyDescriptor(owner, name)
      Object.defineProperty(owner, name, {
        value,
        configurable: true,
        writable: true,
        enumerable: was?.enumerable ?? true,
      })
      this.#restore.push(() => {
        if (was) Object.defineProperty(owner, name, was)
        else Reflect.deleteProperty(owner, name)
      })
    }
  }

  #bytes(size: number): Buffer {
    const bytes = Buffer.alloc(size)
    this.#ids.fill(bytes)
    return bytes
  }

  #uuid(): string {
    const hex = this.#bytes(16).toString('hex')
    const variant = '89ab'[Number.parseInt(hex[16]!, 16) & 3]
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
  }
}
