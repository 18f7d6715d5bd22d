import { Problem } from '../../../errors.ts'
import { openLimits } from '../../../gateway-limits.ts'
import type { Logger } from '../../../logger.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import type { WakeSubscription } from '../../../registry/subscriptions/subscription.ts'
import { findSubscription, listSubscriptionsTo } from '../../../registry/subscriptions/subscription-store.ts'
import type { Reader } from '../../../storage/database.ts'
import type { Connection, StreamConnections } from '../../../wake-stream/connections.ts'
import type { StreamReader } from '../../../wake-stream/wake-stream.ts'

/** The stream of a session that takes wakes. */
interface WakeTaker {
  readonly caller: Caller
  /** Writes a wake. Resolves with whether the connection took the bytes. */
  readonly write: (body: string) => Promise<boolean>
}

interface SessionWakesContext {
  readonly db: Reader
  readonly log: Logger
  readonly connections: Pick<StreamConnections, 'connect'>
}

/** The subscriptions of agents whose wakes go to the streams of MCP sessions that are open on this gateway. Source: S1-28, D28. */
export class SessionWakes {
  readonly #context: SessionWakesContext
  /** By agent, the newest last. */
  readonly #takers = new Map<string, OpenTaker[]>()

  constructor(context: SessionWakesContext) {
    this.#context = context
  }

  /** Connects a stream to subscriptions of its agent: the newest stream has them. Disposing ends that. */
  async open(taker: WakeTaker, subscriptionIds: readonly string[]): Promise<AsyncDisposable> {
    const agentId = taker.caller.id
    const open: OpenTaker = { taker, connections: new Set(), hasEnded: false }
    this.#takers.set(agentId, [...(this.#takers.get(agentId) ?? []), open])
    const close = async (): Promise<void> => {
      open.hasEnded = true
      const others = (this.#takers.get(agentId) ?? []).filter((one) => one !== open)
      if (others.length > 0) this.#takers.set(agentId, others)
      else this.#takers.delete(agentId)
      await Promise.all([...open.connections].map((connection) => connection[Symbol.asyncDispose]()))
    }
    try {
      await Promise.all(subscriptionIds.map((id) => this.#connect(open, id)))
    } catch (error) {
      await close()
      throw error
    }
    return { [Symbol.asyncDispose]: close }
  }

  /** Looks whether changed subscriptions wait for a stream that is open here. */
  check(subscriptionIds: readonly string[]): void {
    if (this.#takers.size === 0) return
    for (const id of subscriptionIds) {
      if (!id.startsWith('WAKE_SUB:')) continue
      this.#check(id).catch((err: unknown) =>
        this.#context.log.warn({ err, subscriptionId: id }, 'mcp_wakes.unconnected'),
      )
    }
  }

  /** The same for every agent with a stream here: notifications may have been lost. */
  checkAll(): void {
    for (const agentId of this.#takers.keys()) {
      wakesTo(this.#context.db, agentId)
        .then((subscriptions) => this.check(subscriptions.map(({ id }) => id)))
        .catch((err: unknown) => this.#context.log.warn({ err, agentId }, 'mcp_wakes.unconnected'))
    }
  }

  async #check(id: string): Promise<void> {
    const subscription = await findSubscription(this.#context.db, id)
    if (subscription?.kind !== 'wake' || !isToConnect(subscription)) return
    const newest = this.#takers.get(subscription.agentId)?.at(-1)
    if (newest && !newest.hasEnded) await this.#connect(newest, id)
  }

  async #connect(open: OpenTaker, id: string): Promise<void> {
    const { taker } = open
    let connection: Connection | undefined
    const leave = async (): Promise<void> => {
      if (connection) open.connections.delete(connection)
      await connection?.[Symbol.asyncDispose]()
    }
    const reader: StreamReader = {
      write: (_eventId, { body }) => taker.write(body),
      release() {},
      // The stream has more to say than wakes, and stays. What the store had forgotten is connected anew.
      end: () =>
        void leave().then(
          () => this.check([id]),
          () => {},
        ),
    }
    connection = await this.#context.connections.connect(taker.caller, [id], [], reader).catch(unlessGone)
    if (!connection) return
    if (open.hasEnded) return leave()
    open.connections.add(connection)
    connection.begin()
  }
}

/** It was removed, or goes elsewhere, since it was listed. */
function unlessGone(error: unknown): undefined {
  const isGone =
    error instanceof Problem && (error.code === 'subscription-not-found' || error.code === 'invalid-request')
  if (!isGone) throw error
}

interface OpenTaker {
  readonly taker: WakeTaker
  readonly connections: Set<Connection>
  hasEnded: boolean
}

/** Returns an agent's subscriptions whose wakes go to MCP sessions: as many as one stream reads, the oldest first. */
export function wakesTo(db: Reader, agentId: string): Promise<WakeSubscription[]> {
  return listSubscriptionsTo(db, agentId, 'mcp-notifications', openLimits.streamSubscriptions.max)
}

function isToConnect({ harnessTarget, status, streamId }: WakeSubscription): boolean {
  return harnessTarget === 'mcp-notifications' && status === 'waiting' && streamId === null
}
