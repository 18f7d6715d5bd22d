import type { GatewayClient } from '../../client/gateway-client.ts'
import { clip, plain } from '../../client/terminal-text.ts'
import { mayPass } from '../../client/wakes/streamed-wakes.ts'
import type { Wake } from '../../client/wakes/wake.ts'
import { sleep, systemClock } from '../../lib/clock.ts'
import type { ReceiptStep } from '../../words/receipts.ts'

/** How the work for a wake ended. */
export type Outcome = { readonly step: 'delivered' } | { readonly step: 'failed'; readonly detail: string }

/** The wait after a report that failed: twice as long each time. */
const retryMs = 1_000
const retryMsMax = 30_000
/** Far more than a gateway has open for one stream. */
const rememberedMax = 10_000
/** What a report has room for. */
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
  readonly #running = new Map<string, Promise<void>>()
  readonly #done = new Set<string>()
  readonly #stopping = new AbortController()

  constructor(gateway: GatewayClient, concurrency: number, work: (wake: Wake) => Promise<Outcome>) {
    this.#gateway = gateway
    this.#concurrency = concurrency
    this.#work = work
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
    // What Ctrl-C has cut off was neither done nor did it fail.
    if (this.#stopping.signal.aborted && outcome.step === 'failed') return
    if (outcome.step === 'delivered') this.#remember(wake.eventId)
    await this.#report(wake.eventId, outcome)
  }

  #remember(eventId: string): void {
    this.#done.add(eventId)
    if (this.#done.size > rememberedMax) this.#done.delete(this.#done.values().next().value!)
  }

  /**
   * Repeats a report until the gateway has it: the gateway waits for the report as long as the stream is open, and sends nothing else. At the
   * end of the process it tries once: if the report is lost, the gateway writes the wake again to the next connection.
   */
  async #report(eventId: string, { step, ...rest }: { step: ReceiptStep; detail?: string }): Promise<void> {
    const body = [{ eventId, step, at: new Date().toISOString(), ...rest }]
    const transport = { signal: new AbortController().signal, timeoutMs: 10_000 }
    for (let delayMs = retryMs; ; delayMs = Math.min(delayMs * 2, retryMsMax)) {
      try {
        await this.#gateway.call('POST /v1/wake-stream/receipts', { body, ...transport })
        return
      } catch (error) {
        if (this.#stopping.signal.aborted || !mayPass(error)) return
        await sleep(systemClock, delayMs, this.#stopping.signal)
      }
    }
  }
}
