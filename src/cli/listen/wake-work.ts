import type { GatewayClient } from '../../client/gateway-client.ts'
import { clip, plain } from '../../client/terminal-text.ts'
import { mayPass } from '../../client/wakes/streamed-wakes.ts'
import type { Wake } from '../../client/wakes/wake.ts'
import { BackOff } from '../../lib/back-off.ts'
import { asideWaitMs, isGivenUp, isSetAside } from './set-aside.ts'

/** How the work for a wake has failed. `givenUp`: called when the wake is not tried again. */
export interface Failure {
  readonly step: 'failed'
  readonly detail: string
  readonly givenUp?: () => Promise<void>
}

/** How the work for a wake ended. `left`: the parts of a digest that have failed, while others of it have not. */
export type Outcome =
  | { readonly step: 'delivered'; readonly left?: readonly { readonly wake: Wake; readonly failure: Failure }[] }
  | Failure

/** The fate of a wake: `again`: its work failed, and the gateway sends it again; `aside`: it is tried again here; `given-up`: it is not. */
export type Fate = 'delivered' | 'again' | 'aside' | 'given-up'

/** The parts that the work uses. */
interface WorkParts {
  readonly concurrency: number
  /** `failures`: how often it has failed before. */
  readonly work: (wake: Wake, failures: number) => Promise<Outcome>
  readonly noteFate?: (wake: Wake, fate: Fate, detail?: string) => void
  /** True when others wait for a wake to end. */
  readonly delaysOthers?: (wake: Wake) => Promise<boolean>
  /** How long a wake that is set aside is tried. */
  readonly retryForMs?: number
}

/** A wake that fails. Instants in ms since the epoch. */
interface Failing {
  readonly wake: Wake
  readonly failures: number
  readonly firstAt: number
  /** Of a digest: the gateway knows no such wake. */
  readonly isPart?: boolean
}

/** The waits after a report that failed. */
const retryMs = { first: 1_000, max: 30_000 } as const
/** Far more than a gateway has open for one stream. */
const rememberedMax = 10_000
/** The most characters in the detail of a report. */
const detailMax = 500

/**
 * Does the work for each wake once, a bounded number at the same time, and reports how it ended. A wake that comes again, on a new
 * connection or because a report was lost, is reported again and not worked on again. One that fails again and again while others wait is set
 * aside: the gateway is notified that it is here, and sends the next one.
 */
export class WakeWork {
  readonly #gateway: GatewayClient
  readonly #parts: WorkParts
  readonly #waiting: Wake[] = []
  readonly #running = new Map<string, Promise<void>>()
  readonly #done = new Set<string>()
  readonly #failing = new Map<string, Failing>()
  /** The least recently tried one first. */
  readonly #aside = new Map<string, Failing>()
  readonly #stopping = new AbortController()
  /** Since a run last succeeded. */
  #since = { aside: 0, asideAt: 0, tries: 0 }
  #timer: NodeJS.Timeout | undefined

  constructor(gateway: GatewayClient, parts: WorkParts) {
    this.#gateway = gateway
    this.#parts = parts
  }

  add(wake: Wake): void {
    const { eventId } = wake
    if (this.#running.has(eventId) || this.#aside.has(eventId)) return
    if (this.#waiting.some((one) => one.eventId === eventId)) return
    if (this.#done.has(eventId)) return void this.#report(eventId, { step: 'delivered' })
    this.#waiting.push(wake)
    this.#next()
  }

  /** Starts nothing more, and waits for what runs. What did not end is not reported: the gateway sends it again. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    clearTimeout(this.#timer)
    await Promise.all(this.#running.values())
  }

  /** The wakes whose work has not begun. */
  get waiting(): readonly Wake[] {
    return this.#waiting
  }

  /** The wakes that were set aside: the gateway does not send them again. */
  get aside(): readonly Wake[] {
    return [...this.#aside.values()].map(({ wake }) => wake)
  }

  #next(): void {
    while (!this.#stopping.signal.aborted && this.#running.size < this.#parts.concurrency) {
      const wake = this.#waiting.shift()
      if (!wake) return
      const running = this.#run(wake).finally(() => {
        this.#running.delete(wake.eventId)
        this.#next()
      })
      this.#running.set(wake.eventId, running)
    }
  }

  async #run(wake: Wake): Promise<void> {
    const { eventId } = wake
    const known = this.#aside.get(eventId) ?? this.#failing.get(eventId)
    const outcome = await this.#parts.work(wake, known?.failures ?? 0).catch((error: Error): Outcome => {
      return { step: 'failed', detail: clip(plain(error.message), detailMax) }
    })
    // Work that Ctrl-C has cut off was neither done nor did it fail.
    if (this.#stopping.signal.aborted && outcome.step === 'failed') return
    if (outcome.step === 'failed') return this.#failed(wake, outcome, known)
    this.#failing.delete(eventId)
    this.#aside.delete(eventId)
    this.#remember(eventId)
    this.#succeeded()
    for (const { wake: part, failure } of outcome.left ?? []) this.#setAside(part, failure, { isPart: true })
    if (!known?.isPart) await this.#report(eventId, { step: 'delivered' })
    this.#noteFate(wake, 'delivered')
  }

  async #failed(wake: Wake, failure: Failure, known: Failing | undefined): Promise<void> {
    const { eventId } = wake
    const { delaysOthers, retryForMs = 0 } = this.#parts
    const now = Date.now()
    const failing = afterFailure(wake, known)
    if (this.#aside.delete(eventId)) {
      if (!isGivenUp(failing, retryForMs, now)) return this.#keep(failing)
      this.#noteFate(wake, 'given-up')
      return failure.givenUp?.()
    }
    const { aside, asideAt } = this.#since
    const trouble = { failures: failing.failures, count: this.#aside.size, sinceSuccess: aside, lastAt: asideAt }
    if (isSetAside(trouble, now) && (await delaysOthers?.(wake))) {
      this.#since = { ...this.#since, aside: aside + 1, asideAt: now }
      this.#setAside(wake, failure, known)
      await this.#report(eventId, { step: 'written', isFinal: true, detail: failure.detail })
      return
    }
    const recorded = await this.#report(eventId, failure)
    if (recorded === 'pending') {
      this.#failing.set(eventId, failing)
      return this.#noteFate(wake, 'again')
    }
    this.#failing.delete(eventId)
    if (recorded !== 'failed') return
    this.#noteFate(wake, 'given-up')
    await failure.givenUp?.()
  }

  #setAside(wake: Wake, { detail }: Failure, known: Partial<Failing> | undefined): void {
    this.#failing.delete(wake.eventId)
    this.#keep(afterFailure(wake, known))
    this.#noteFate(wake, 'aside', detail)
  }

  #keep(failing: Failing): void {
    this.#aside.set(failing.wake.eventId, failing)
    this.#plan()
  }

  #plan(): void {
    if (this.#aside.size === 0 || this.#stopping.signal.aborted) return
    this.#timer ??= setTimeout(() => this.#tryAside(), asideWaitMs(this.#since.tries++))
  }

  #tryAside(): void {
    this.#timer = undefined
    const next = this.aside.find(({ eventId }) => !this.#running.has(eventId))
    if (next === undefined || this.#stopping.signal.aborted) return
    this.#waiting.unshift(next)
    this.#next()
  }

  /** The command works: what is set aside is tried soon. */
  #succeeded(): void {
    this.#since = { aside: 0, asideAt: 0, tries: Math.min(this.#since.tries, this.#aside.size) }
    this.#plan()
  }

  #noteFate(wake: Wake, fate: Fate, detail?: string): void {
    this.#parts.noteFate?.(wake, fate, detail)
  }

  #remember(eventId: string): void {
    this.#done.add(eventId)
    if (this.#done.size > rememberedMax) this.#done.delete(this.#done.values().next().value!)
  }

  /**
   * Repeats a report until the gateway has it: the gateway waits for the report as long as the stream is open, and sends nothing else. At the
   * end of the process it tries once: if the report is lost, the gateway writes the wake again to the next connection. Returns what the
   * gateway has on record of the wake then; undefined: it has no such report.
   */
  async #report(
    eventId: string,
    { step, detail, isFinal }: { step: 'delivered' | 'failed' | 'written'; detail?: string; isFinal?: true },
  ): Promise<string | undefined> {
    const body = [
      {
        eventId,
        step,
        at: new Date().toISOString(),
        ...(detail === undefined ? {} : { detail }),
        ...(isFinal ? { isFinal } : {}),
      },
    ]
    const transport = { signal: new AbortController().signal, timeoutMs: 10_000 }
    const backOff = new BackOff(retryMs)
    for (;;) {
      try {
        const answer = await this.#gateway.call('POST /v1/wake-stream/receipts', { body, ...transport })
        return answer?.receipts[0]?.outcome
      } catch (error) {
        if (this.#stopping.signal.aborted || !mayPass(error)) return undefined
        await backOff.pause(this.#stopping.signal)
      }
    }
  }
}

const afterFailure = (wake: Wake, known: Partial<Failing> = {}): Failing => ({
  ...known,
  wake,
  failures: (known.failures ?? 0) + 1,
  firstAt: known.firstAt ?? Date.now(),
})
