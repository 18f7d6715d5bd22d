import { Semaphores } from '../../lib/semaphores.ts'
import type { MailContext } from '../context.ts'
import { type LookForMail, MailWatch } from './mail-watch.ts'
import { urgentIn } from './piggyback.ts'

interface Wait {
  readonly timeoutMs: number
  /** Aborts when the caller waits no longer. */
  readonly signal: AbortSignal
}

/** The waits for mail on this gateway. Hundreds of one agent may end at the same moment: they share their looks, and take in turn. */
export class MailWaits {
  readonly #context: MailContext
  readonly #lookFor: LookForMail
  readonly #watches = new Map<string, MailWatch>()
  readonly #turns = new Semaphores()

  /** @param lookFor default: mail that wakes an agent and can go along with an answer */
  constructor(context: MailContext, lookFor: LookForMail = urgentIn) {
    this.#context = context
    this.#lookFor = lookFor
  }

  /** Resolves when mail ends the wait of an agent, at the time-out, or when the signal aborts. Takes nothing. */
  async untilMail(
    agent: { readonly id: string; readonly projectId: string },
    { timeoutMs, signal }: Wait,
  ): Promise<void> {
    if (signal.aborted) return
    const watch = this.#watchOf(agent)
    let end = (): void => {}
    let fail = (_error: unknown): void => {}
    const ended = new Promise<void>((resolve, reject) => {
      end = resolve
      fail = reject
    })
    const waiter = { found: end, failed: fail }
    const cancel = this.#context.clock.after(timeoutMs, end)
    signal.addEventListener('abort', end, { once: true })
    watch.add(waiter)
    try {
      await ended
    } finally {
      cancel()
      signal.removeEventListener('abort', end)
      watch.remove(waiter)
      if (watch.isOver && this.#watches.get(agent.id) === watch) this.#watches.delete(agent.id)
    }
  }

  /**
   * Works for one of an agent's waits after the other, in the order in which they ask. What one takes, the next ones do not read. Each
   * begins in a later iteration of the event loop than the one before, so that other requests go on in between.
   */
  async inTurn<Result>(agentId: string, work: () => Promise<Result>): Promise<Result> {
    const leave = await this.#turns.enter(agentId, { max: 1, queued: Number.POSITIVE_INFINITY })!
    try {
      return await work()
    } finally {
      setImmediate(() => leave?.())
    }
  }

  #watchOf(agent: { readonly id: string; readonly projectId: string }): MailWatch {
    const known = this.#watches.get(agent.id)
    if (known) return known
    const watch = new MailWatch(this.#context, agent, this.#lookFor)
    this.#watches.set(agent.id, watch)
    return watch
  }
}
