import { openLimits } from '../../../gateway-limits.ts'
import type { Logger } from '../../../logger.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import type { WakeSubscription } from '../../../registry/subscriptions/subscription.ts'
import { findSubscriptions, listSubscriptionsTo } from '../../../registry/subscriptions/subscription-store.ts'
import type { Reader } from '../../../storage/database.ts'
import type { Connection, StreamConnections } from '../../../wake-stream/connections.ts'
import type { StreamReader } from '../../../wake-stream/wake-stream.ts'

/** The stream of a session that takes wakes. */
interface WakeTaker {
  readonly caller: Caller
  /** Writes a wake. Resolves with whether the connection took the bytes. */
  readonly write: (body: string) => Promise<boolean>
  /** Notes subscriptions whose wakes may come from now on, as they were before; `all`: the ids of those and of the earlier ones. */
  readonly takes: (added: readonly WakeSubscription[], all: readonly string[]) => void
}

interface SessionWakesContext {
  readonly db: Reader
  readonly log: Logger
  readonly connections: Pick<StreamConnections, 'connectFit' | 'end'>
}

interface OpenTaker {
  readonly taker: WakeTaker
  /** One for those that were there when it opened, one for those that came at another time. */
  readonly connections: Set<Connection>
  /** One after the other: none is connected twice. */
  last: Promise<unknown>
  hasEnded: boolean
}

/** The subscriptions of agents whose wakes go to the streams of MCP sessions that are open on this gateway. Source: S1-28, D28. */
export class SessionWakes {
  readonly #context: SessionWakesContext
  /** By agent, the newest last. */
  readonly #takers = new Map<string, OpenTaker[]>()
  /** What is looked at next: all that a transaction has changed, at once. */
  readonly #changed = new Set<string>()

  constructor(context: SessionWakesContext) {
    this.#context = context
  }

  /** Connects a stream to subscriptions of its agent: the newest stream has them. Disposing ends that. */
  async open(taker: WakeTaker, subscriptionIds: readonly string[]): Promise<AsyncDisposable> {
    const agentId = taker.caller.id
    const open: OpenTaker = { taker, connections: new Set(), last: Promise.resolve(), hasEnded: false }
    this.#takers.set(agentId, [...(this.#takers.get(agentId) ?? []), open])
    const close = async (): Promise<void> => {
      open.hasEnded = true
      const others = (this.#takers.get(agentId) ?? []).filter((one) => one !== open)
      if (others.length > 0) this.#takers.set(agentId, others)
      else this.#takers.delete(agentId)
      await open.last
      await this.#context.connections.end([...open.connections])
    }
    try {
      await this.#connect(open, subscriptionIds)
    } catch (error) {
      await close()
      throw error
    }
    return { [Symbol.asyncDispose]: close }
  }

  /** Looks whether changed subscriptions wait for a stream that is open here. */
  check(subscriptionIds: readonly string[]): void {
    if (this.#takers.size === 0) return
    const isLooking = this.#changed.size > 0
    for (const id of subscriptionIds) if (id.startsWith('WAKE_SUB:')) this.#changed.add(id)
    if (isLooking || this.#changed.size === 0) return
    queueMicrotask(() => {
      const ids = [...this.#changed]
      this.#changed.clear()
      this.#look(ids).catch((err: unknown) => this.#context.log.warn({ err }, 'mcp_wakes.unconnected'))
    })
  }

  /** The same for every agent with a stream here: notifications may have been lost. */
  checkAll(): void {
    for (const agentId of this.#takers.keys()) this.#checkAgent(agentId)
  }

  async #look(subscriptionIds: readonly string[]): Promise<void> {
    const agents = new Set<string>()
    for (const one of await findSubscriptions(this.#context.db, subscriptionIds)) {
      if (one.kind === 'wake' && isToConnect(one) && this.#takers.has(one.agentId)) agents.add(one.agentId)
    }
    for (const agentId of agents) this.#checkAgent(agentId)
  }

  /** Connects what waits of an agent's subscriptions to its newest stream: of as many as one stream reads, the oldest first. */
  #checkAgent(agentId: string): void {
    this.#connectWaiting(agentId).catch((err: unknown) =>
      this.#context.log.warn({ err, agentId }, 'mcp_wakes.unconnected'),
    )
  }

  async #connectWaiting(agentId: string): Promise<void> {
    if (!this.#takers.has(agentId)) return
    const waiting = (await wakesTo(this.#context.db, agentId)).filter(isToConnect)
    const newest = this.#takers.get(agentId)?.at(-1)
    if (!newest || waiting.length === 0) return
    await this.#connect(
      newest,
      waiting.map(({ id }) => id),
    )
  }

  #connect(open: OpenTaker, subscriptionIds: readonly string[]): Promise<void> {
    const connecting = open.last.then(() => this.#connectNow(open, subscriptionIds))
    open.last = connecting.catch(() => {})
    return connecting
  }

  async #connectNow(open: OpenTaker, subscriptionIds: readonly string[]): Promise<void> {
    const { taker } = open
    const { connections } = this.#context
    const read = idsOf(open)
    const room = Math.max(0, openLimits.streamSubscriptions.max - read.length)
    const others = subscriptionIds.filter((id) => !read.includes(id)).slice(0, room)
    if (open.hasEnded || others.length === 0) return
    const agentId = taker.caller.id
    const reader: StreamReader = {
      write: (_eventId, { body }) => taker.write(body),
      release: (_id, reason) => {
        // The stream has room for another one.
        if (reason === 'changed') this.#checkAgent(agentId)
      },
      // The stream has more to say than wakes, and stays. What the store had forgotten is connected anew.
      end: () => {
        open.connections.delete(connection)
        void connections.end([connection]).then(() => this.#checkAgent(agentId))
      },
    }
    const connection = await connections.connectFit(taker.caller, others, reader)
    if (connection.connected.length === 0) return
    open.connections.add(connection)
    if (open.hasEnded) return
    taker.takes(connection.connected, idsOf(open))
    connection.begin()
  }
}

const idsOf = ({ connections }: OpenTaker): string[] =>
  [...connections].flatMap(({ stream }) => [...stream.subscriptionIds])

/** Returns an agent's subscriptions whose wakes go to MCP sessions: as many as one stream reads, the oldest first. */
export function wakesTo(db: Reader, agentId: string): Promise<WakeSubscription[]> {
  return listSubscriptionsTo(db, agentId, 'mcp-notifications', openLimits.streamSubscriptions.max)
}

function isToConnect({ harnessTarget, status, streamId }: WakeSubscription): boolean {
  return harnessTarget === 'mcp-notifications' && status === 'waiting' && streamId === null
}
