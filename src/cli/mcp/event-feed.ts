import type { GatewayClient } from '../../client/gateway-client.ts'
import type { EventView } from '../../client/route-types.ts'
import { BackOff } from '../../lib/back-off.ts'
import { sleep, systemClock } from '../../lib/clock.ts'
import { followEvents } from '../tail/follow-events.ts'

const againMs = { first: 2_000, max: 60_000 } as const
/** How long a subscriber waits for the stream. A gateway that is away takes longer, and the stream opens when it is back. */
const openMaxMs = 2_000

interface FeedOptions {
  /** Makes a client for one connection: the key may have changed since the last one. Its requests end with the signal. */
  readonly connect: (signal: AbortSignal) => Promise<GatewayClient>
  readonly onEvent: (event: EventView) => void
  readonly debug: (text: string) => void
}

/**
 * The events of the agent, on one stream that opens with the first reader and stays open. It takes no mail. When it breaks, it continues after the
 * last event; an unreachable gateway is tried again until the end of the process.
 */
export class EventFeed implements AsyncDisposable {
  readonly #options: FeedOptions
  readonly #ended = new AbortController()
  readonly #opened = new AbortController()
  #following: Promise<void> | undefined
  #last: number | undefined

  constructor(options: FeedOptions) {
    this.#options = options
  }

  /** Opens the stream if it is not open. Returns at once. */
  open(): void {
    this.#following ??= this.#follow()
  }

  /** Opens the stream, and resolves when it is open: what happens from then on is reported. It resolves after two seconds anyway. */
  async whenOpen(): Promise<void> {
    this.open()
    await sleep(systemClock, openMaxMs, AbortSignal.any([this.#opened.signal, this.#ended.signal]))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort()
    await this.#following
  }

  async #follow(): Promise<void> {
    const { connect, onEvent, debug } = this.#options
    const { signal } = this.#ended
    const onOpen = (): void => this.#opened.abort()
    const backOff = new BackOff(againMs)
    while (!signal.aborted) {
      try {
        for await (const event of followEvents(await connect(signal), {
          since: this.#last,
          signal,
          note: debug,
          onOpen,
        })) {
          this.#last = event.logId
          backOff.reset()
          onEvent(event)
        }
      } catch (error) {
        if (signal.aborted) return
        debug(`The stream of events is not open: ${(error as Error).message}`)
        await backOff.pause(signal)
      }
    }
  }
}
