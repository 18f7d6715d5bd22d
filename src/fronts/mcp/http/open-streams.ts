import type { Logger } from '../../../logger/logger.ts'
import type { McpSession } from '../../../mcp-sessions/mcp-session.ts'
import { findMcpSession } from '../../../mcp-sessions/mcp-session-store.ts'
import { findSubscriptions } from '../../../registry/subscriptions/subscription-store.ts'
import type { Reader } from '../../../storage/database.ts'

/** The stream of a session's notifications. */
interface OpenStream {
  readonly id: string
  readonly sessionId: string
  /** Takes what the session has changed: its resources, its level. */
  update(session: McpSession): Promise<void>
  end(): void
}

/** A stream that takes the wakes of an agent. */
interface WakeTaker {
  readonly agentId: string
  /** Connects what waits of the subscriptions whose wakes it takes. */
  connectWaiting(): Promise<void>
}

/** The streams of sessions that are open on this gateway. */
export class OpenStreams {
  readonly #db: Reader
  readonly #log: Logger
  readonly #bySession = new Map<string, OpenStream>()
  /** By agent, the newest last. */
  readonly #takers = new Map<string, WakeTaker[]>()
  /** Subscriptions that are looked at next: all that a transaction has changed, at once. */
  readonly #changed = new Set<string>()

  constructor(db: Reader, log: Logger) {
    this.#db = db
    this.#log = log
  }

  /** The sessions that have a stream here. */
  get sessionIds(): string[] {
    return [...this.#bySession.keys()]
  }

  /** Counts a stream as open until the result is disposed. The newest stream of a session stays: an earlier one ends. */
  open(stream: OpenStream): Disposable {
    this.#bySession.get(stream.sessionId)?.end()
    this.#bySession.set(stream.sessionId, stream)
    return {
      [Symbol.dispose]: () => {
        if (this.#bySession.get(stream.sessionId) === stream) this.#bySession.delete(stream.sessionId)
      },
    }
  }

  /** Counts a stream among those that take the wakes of its agent. Returns the function that ends that. */
  take(taker: WakeTaker): () => void {
    const { agentId } = taker
    this.#takers.set(agentId, [...(this.#takers.get(agentId) ?? []), taker])
    return () => {
      const others = (this.#takers.get(agentId) ?? []).filter((one) => one !== taker)
      if (others.length > 0) this.#takers.set(agentId, others)
      else this.#takers.delete(agentId)
    }
  }

  /** Connects what waits of an agent's subscriptions: to its newest stream, and what that does not take to an earlier one. */
  connectWaiting(agentId: string): void {
    const connect = async (): Promise<void> => {
      for (const taker of [...(this.#takers.get(agentId) ?? [])].reverse()) await taker.connectWaiting()
    }
    connect().catch((err: unknown) => this.#log.warn({ err, agentId }, 'mcp_wakes.unconnected'))
  }

  /** Looks what has changed: a stream ends with its session, and when a newer one is open anywhere. Subscriptions may wait for a stream here. */
  check(ids: readonly string[]): void {
    for (const id of ids) {
      const stream = this.#bySession.get(id)
      if (!stream) continue
      this.#check(stream).catch((err: unknown) => this.#log.warn({ err }, 'mcp_session.unchecked'))
    }
    if (this.#takers.size > 0) this.#look(ids.filter((id) => id.startsWith('WAKE_SUB:')))
  }

  /** The same for all of them: notifications may have been lost. */
  checkAll(): void {
    this.check(this.sessionIds)
    for (const agentId of this.#takers.keys()) this.connectWaiting(agentId)
  }

  async #check(stream: OpenStream): Promise<void> {
    const session = await findMcpSession(this.#db, stream.sessionId)
    if (session?.streamId === stream.id) await stream.update(session)
    else stream.end()
  }

  #look(subscriptionIds: readonly string[]): void {
    const isLooking = this.#changed.size > 0
    for (const id of subscriptionIds) this.#changed.add(id)
    if (isLooking || this.#changed.size === 0) return
    queueMicrotask(() => {
      const ids = [...this.#changed]
      this.#changed.clear()
      this.#connectOwners(ids).catch((err: unknown) => this.#log.warn({ err }, 'mcp_wakes.unconnected'))
    })
  }

  async #connectOwners(subscriptionIds: readonly string[]): Promise<void> {
    const changed = await findSubscriptions(this.#db, subscriptionIds)
    const agentIds = changed.flatMap((one) => (one.kind === 'wake' && one.status === 'waiting' ? [one.agentId] : []))
    for (const agentId of new Set(agentIds)) this.connectWaiting(agentId)
  }
}
