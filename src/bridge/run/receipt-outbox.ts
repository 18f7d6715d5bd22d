import type { GatewayClient } from '../../client/gateway-client.ts'
import { clip, plain } from '../../client/terminal-text.ts'
import { mayPass } from '../../client/wakes/streamed-wakes.ts'
import { BackOff } from '../../lib/back-off.ts'
import { sizeLimits } from '../../limits.ts'
import type { ReceiptStep } from '../../words/receipts.ts'

/** The receipt of the bridge for a wake. */
export interface OutgoingReceipt {
  readonly eventId: string
  readonly step: ReceiptStep
  /** Its proof: `codex: turn/started`. */
  readonly source?: string
  readonly detail?: string
  /** With `written`: nothing more will be known. */
  readonly isFinal?: true
  /** ISO 8601 */
  readonly at: string
}

interface OutboxOptions {
  readonly gateway: GatewayClient
  /** Called with a refusal that does not pass: the key was revoked. */
  readonly refused: (error: unknown) => void
  /** A line for the user. */
  readonly note: (text: string) => void
}

const retryMs = { first: 1_000, max: 30_000 } as const
const timeoutMs = 10_000
const textMax = { source: 200, detail: 500 } as const
/** Far more than the wakes of one agent have steps at the same time. What is lost is answered from the journal. */
const waitingMax = 1_000

/** Sends the receipts of an agent in their order, until the gateway has each. Source: S1-34. */
export class ReceiptOutbox {
  readonly #options: OutboxOptions
  readonly #waiting: OutgoingReceipt[] = []
  /** The act when the gateway does not send a failed wake again. */
  readonly #givenUp = new WeakMap<OutgoingReceipt, () => Promise<void>>()
  readonly #stopping = new AbortController()
  #sending: Promise<void> | undefined

  constructor(options: OutboxOptions) {
    this.#options = options
  }

  /** `givenUp`: called when the gateway answers that it does not send the wake again. */
  add({ source, detail, ...receipt }: OutgoingReceipt, givenUp?: () => Promise<void>): void {
    const added = {
      ...receipt,
      ...(source ? { source: clip(plain(source), textMax.source) } : {}),
      ...(detail ? { detail: clip(plain(detail), textMax.detail) } : {}),
    }
    this.#waiting.push(added)
    if (givenUp) this.#givenUp.set(added, givenUp)
    if (this.#waiting.length > waitingMax) this.#waiting.shift()
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined
    })
  }

  /** Tries what waits once more, and ends. Resolves when it has, or when the signal aborts. */
  async stop(signal: AbortSignal): Promise<void> {
    this.#stopping.abort()
    await Promise.race([
      this.#sending,
      new Promise<void>((resolve) => {
        if (signal.aborted) resolve()
        signal.addEventListener('abort', () => resolve(), { once: true })
      }),
    ])
  }

  async #send(): Promise<void> {
    const backOff = new BackOff(retryMs)
    while (this.#waiting.length > 0) {
      const body = this.#waiting.slice(0, sizeLimits.items.max)
      // A signal of its own: receipts are still sent when the bridge stops.
      const transport = { signal: new AbortController().signal, timeoutMs, mail: 'none' as const }
      try {
        const { receipts } = await this.#options.gateway.call('POST /v1/wake-stream/receipts', { body, ...transport })
        for (const [at, { outcome }] of receipts.entries()) {
          const sent = body[at]
          if (outcome === 'failed' && sent?.step === 'failed') await this.#giveUp(sent)
        }
        backOff.reset()
      } catch (error) {
        if (this.#stopping.signal.aborted) return
        if (mayPass(error)) {
          await backOff.pause(this.#stopping.signal)
          continue
        }
        this.#options.refused(error)
      }
      // Meanwhile the oldest may have made room for others.
      for (const sent of body) if (this.#waiting[0] === sent) this.#waiting.shift()
    }
  }

  /** Never rejects. */
  async #giveUp(receipt: OutgoingReceipt): Promise<void> {
    const { note } = this.#options
    note(`The wake ${receipt.eventId} is given up. Its mail stays unread: rouse inbox --unread`)
    await this.#givenUp
      .get(receipt)?.()
      .catch(({ message }: Error) => note(`  Its task was not moved: ${plain(message)}`))
  }
}
