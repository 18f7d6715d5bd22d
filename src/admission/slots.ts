import { Problem } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { type Entry, type Release, type Room, Semaphores } from '../lib/semaphores.ts'
import { projectFactor } from '../limits.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { limitFor } from '../registry/callers/caller-limits.ts'
import { counterOf } from './counter.ts'

/** The longest wait for a slot, in ms. */
const waitMs = 10_000

/** The place of one request among those of its agent and its project that are worked on at a time. */
export interface Slot {
  /** Frees the slot for good, also where work goes on: what waits is counted elsewhere. */
  release(): void
  /** The answer is over: frees the slot once no work holds it. */
  end(): void
  /** Holds the slot for a piece of work until the returned object is disposed, also after the answer is over. */
  hold(): Disposable
  /** Frees the slot while the request waits for its client, and takes one again. Errors: `rate-limited`. */
  releaseWhile<T>(wait: () => Promise<T>): Promise<T>
}

/** The slot of a request that nothing limits. */
export const unlimitedSlot: Slot = {
  release() {},
  end() {},
  hold: () => ({ [Symbol.dispose]() {} }),
  releaseWhile: (wait) => wait(),
}

/** A piece of work that holds a slot. An object with a computed name costs ten times as much, for each handler of each request. */
class Hold implements Disposable {
  readonly #slot: TakenSlot

  constructor(slot: TakenSlot) {
    this.#slot = slot
  }

  [Symbol.dispose](): void {
    this.#slot.letGo()
  }
}

class TakenSlot implements Slot {
  #release: Release
  readonly #enterAgain: () => Release | Promise<Release>
  #isOver = false
  #isAnswered = false
  #holders = 0

  constructor(release: Release, enterAgain: () => Release | Promise<Release>) {
    this.#release = release
    this.#enterAgain = enterAgain
  }

  release(): void {
    this.#isOver = true
    this.#release()
  }

  end(): void {
    this.#isAnswered = true
    if (this.#holders === 0) this.release()
  }

  hold(): Disposable {
    this.#holders++
    return new Hold(this)
  }

  letGo(): void {
    this.#holders--
    // The next piece of work of the same request may begin in this turn of the loop.
    if (this.#isAnswered) setImmediate(() => this.end())
  }

  async releaseWhile<T>(wait: () => Promise<T>): Promise<T> {
    this.#release()
    const result = await wait()
    this.#release = await this.#enterAgain()
    // It ended meanwhile.
    if (this.#isOver) this.#release()
    return result
  }
}

/** How many requests of each agent, each project and each operator key are worked on at a time. */
export class Slots {
  readonly #lines: Semaphores

  constructor(clock: Clock) {
    this.#lines = new Semaphores({ clock, waitMs })
  }

  /** Errors: `rate-limited` where too many wait, or the wait was too long. */
  async enter(caller: Caller): Promise<Slot> {
    const enter = (): Release | Promise<Release> => this.#enter(caller)
    return new TakenSlot(await enter(), enter)
  }

  #enter(caller: Caller): Release | Promise<Release> {
    const entry = (key: string, factor: number, who = caller.identity): Entry => {
      const room = roomOf(caller, factor)
      return { key, room, refusal: () => tooManyAtOnce(room, who) }
    }
    if (caller.kind === 'operator') return this.#lines.enterAll([entry(counterOf(caller), projectFactor)])
    const project = `Project ${caller.projectId}`
    return this.#lines.enterAll([entry(counterOf(caller), 1), entry(project, projectFactor, project)])
  }
}

function roomOf(caller: Caller, factor: number): Room {
  return { max: factor * limitFor(caller, 'requestsAtOnce'), queued: factor * limitFor(caller, 'requestsQueued') }
}

function tooManyAtOnce({ max, queued }: Room, who: string): Problem {
  return new Problem('rate-limited', {
    detail: `${who} has ${max} requests under way (requestsAtOnce) and others waiting: at most ${queued} may wait (requestsQueued), for ${waitMs / 1_000} s each. Wait for answers before you ask for more. The operator may raise both for the project.`,
    extra: { limit: queued, limitName: 'requestsQueued', retryAfterSeconds: 1 },
  })
}
