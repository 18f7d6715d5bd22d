import type { GatewayClient } from '../../client/gateway-client.ts'
import { clip, plain } from '../../client/terminal-text.ts'
import { mayPass } from '../../client/wakes/streamed-wakes.ts'
import type { Wake } from '../../client/wakes/wake.ts'
import { sleep, systemClock } from '../../lib/clock.ts'
import type { ReceiptStep } from '../../words/receipts.ts'

/** How the work for a wake ended. `givenUp`: called when it has failed, and the gateway does not send it again. */
export type Outcome =
  | { readonly step: 'delivered' }
  | { readonly step: 'failed'; readonly detail: string; readonly givenUp?: () => Promise<void> }

/** The fate of a wake: `again`: its work failed, and the gateway sends it again; `given-up`: it does not. */
export type Fate = 'delivered' | 'again' | 'given-up'

/** The wait after a report that failed: twice as long each time. */
const retryMs = 1_000
const retryMsMax = 30_000
/** Far more than a gateway has open for one stream. */
const rememberedMax = 10_000
/** The most characters in the detail of a report. */
const detailMax = 500

/**
 * Does the work for each wake once, a bounded number at the same time, and reports how it ended. A wake that comes again, on a new
 * connection or because a report was lost, is reported again and not worked on again.
 */
export class WakeWork {
  readonly #gateway: GatewayClient
  readonly #work: (wake: Wake) => Promise<Outcome>
  readonly #concurrency: number
  readonly #waiting: Wake[] = []
  readonly #noteFate: (wake: Wake, fate: Fate) => void
  readonly #running = new Map<string, Promise<void>>()
  readonly #done = new Set<string>()
  readonly #stopping = new AbortController()

  constructor(
    gateway: GatewayClient,
    concurrency: number,
    work: (wake: Wake) => Promise<Outcome>,
    noteFate: (wake: Wake, fate: Fate) => void = () => {},
  ) {
    this.#gateway = gateway
    this.#concurrency = concurrency
    this.#work = work
    this.#noteFate = noteFate
  }

  add(wake: Wake): void {
    const { eventId } = wake
    if (this.#running.has(eventId) || this.#waiting.some((one) => one.eventId === eventId)) return
    if (this.#done.has(eventId)) return void this.#report(eventId, { step: 'delivered' })
    this.#waiting.push(wake)
    this.#next()
  }

  /** Starts nothing more, and waits for what runs. What did not end is not reported: the gateway sends it again. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#running.values())
  }

  /** The wakes whose work has not begun. */
  get waiting(): readonly Wake[] {
    return this.#waiting
  }

  #next(): void {
    while (!this.#stopping.signal.aborted && this.#running.size < this.#concurrency) {
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
    const outcome = await this.#work(wake).catch((error: Error): Outcome => {
      return { step: 'failed', detail: clip(plain(error.message), detailMax) }
    })
    // Work that Ctrl-C has cut off was neither done nor did it fail.
    if (this.#stopping.signal.aborted && outcome.step === 'failed') return
    if (outcome.step === 'delivered') this.#remember(wake.eventId)
    const recorded = await this.#report(wake.eventId, outcome)
    if (outcome.step === 'delivered') return this.#noteFate(wake, 'delivered')
    if (recorded === 'pending') return this.#noteFate(wake, 'again')
    if (recorded !== 'failed') return
    this.#noteFate(wake, 'given-up')
    await outcome.givenUp?.()
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
    { step, detail }: { step: ReceiptStep; detail?: string },
  ): Promise<string | undefined> {
    const body = [{ eventId, step, at: new Date().toISOString(), ...(detail === undefined ? {} : { detail }) }]
    const transport = { signal: new AbortController().signal, timeoutMs: 10_000 }
    for (let delayMs = retryMs; ; delayMs = Math.min(delayMs * 2, retryMsMax)) {
      try {
        const answer = await this.#gateway.call('POST /v1/wake-stream/receipts', { body, ...transport })
        return answer?.receipts[0]?.outcome
      } catch (error) {
        if (this.#stopping.signal.aborted || !mayPass(error)) return undefined
        await sleep(systemClock, delayMs, this.#stopping.signal)
      }
    }
  }
}
