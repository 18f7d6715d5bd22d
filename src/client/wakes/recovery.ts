import { BackOff } from '../../lib/back-off.ts'
import { sleep, systemClock } from '../../lib/clock.ts'
import type { GatewayClient } from '../gateway-client.ts'
import { plain } from '../terminal-text.ts'

/** How often the subscriptions are looked at, and how long one that is degraded rests: each time twice as long. In ms. */
export interface RecoveryTimes {
  readonly lookMs: number
  readonly restMs: { readonly first: number; readonly max: number }
}

interface RecoveryParts {
  readonly gateway: GatewayClient
  /** ms since the epoch */
  readonly now: () => number
  /** A line for the user about the agent. */
  readonly note: (text: string) => void
  readonly times?: RecoveryTimes | undefined
}

/** A subscription that is degraded. */
interface Resting {
  readonly why: string
  /** ms since the epoch */
  readonly until: number
}

const usualTimes: RecoveryTimes = { lookMs: 60_000, restMs: { first: 30_000, max: 30 * 60_000 } }
const timeoutMs = 10_000

/**
 * Makes the subscriptions of an agent active again that have become degraded because its wakes failed: their stream stays open, and
 * nothing comes. The user is notified of the reason. Source: S1-34, D31.
 */
export class Recovery {
  readonly #parts: RecoveryParts
  readonly #times: RecoveryTimes
  readonly #resting = new Map<string, Resting>()
  readonly #rests: BackOff

  constructor(parts: RecoveryParts) {
    this.#parts = parts
    this.#times = parts.times ?? usualTimes
    this.#rests = new BackOff(this.#times.restMs)
  }

  /** Why wakes do not come now; undefined: they do, as far as is known. */
  get reason(): string | undefined {
    const [first] = this.#resting.values()
    return first?.why
  }

  /** A wake has arrived: the next trouble is a new one. */
  arrived(): void {
    this.#rests.reset()
  }

  /** Looks until the signal aborts. Never rejects: what fails is tried with the next look, and the stream reports what is lasting. */
  async run(subscriptionIds: readonly string[], signal: AbortSignal): Promise<void> {
    this.#resting.clear()
    while (!signal.aborted) {
      const dueMs = Math.min(...[...this.#resting.values()].map(({ until }) => until - this.#parts.now()))
      await sleep(systemClock, Math.max(0, Math.min(this.#times.lookMs, dueMs)), signal)
      for (const id of subscriptionIds) {
        if (!signal.aborted) await this.#look(id, signal).catch(() => this.#resting.delete(id))
      }
    }
  }

  async #look(id: string, signal: AbortSignal): Promise<void> {
    const { gateway, now, note } = this.#parts
    const about = { params: { id }, mail: 'none', signal, timeoutMs } as const
    const { status, reason, trigger } = await gateway.call('GET /v1/wake-subscriptions/:id', about)
    const resting = this.#resting.get(id)
    if (status !== 'degraded') {
      this.#resting.delete(id)
    } else if (resting === undefined) {
      const restMs = this.#rests.next()
      const why = `its wakes for ${trigger} have stopped: ${reason}`
      this.#resting.set(id, { why, until: now() + restMs })
      note(
        `${why}. They begin again in ${Math.ceil(restMs / 1_000)} s, or at once with: rouse sub update ${plain(id)} --status active`,
      )
    } else if (resting.until <= now()) {
      this.#resting.delete(id)
      await gateway.call('PATCH /v1/wake-subscriptions/:id', { ...about, body: { status: 'active' } })
    }
  }
}
