import { Problem } from '../../../errors.ts'
import { isLogged, type McpSession } from '../../../mcp-sessions/mcp-session.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import type { WakeSubscription } from '../../../registry/subscriptions/subscription.ts'
import { listSubscriptionsTo } from '../../../registry/subscriptions/subscription-store.ts'
import { resyncSubscription } from '../../../subscriptions/resync.ts'
import type { Connection } from '../../../wake-stream/connections.ts'
import { changesOf, furtherRequests, subscriptionsMax } from '../../../wake-stream/open-cost.ts'
import type { StreamReader } from '../../../wake-stream/wake-stream.ts'
import { recordRestCall } from '../../access/rest-access.ts'
import { restTable } from '../../rest/table.ts'
import { eventTypeOf } from '../wake-events.ts'
import { agreedWakes } from './capabilities.ts'
import type { McpFrontContext } from './context.ts'
import type { NotificationWriter } from './notification-writer.ts'
import { type StreamPosition, wakeSeen } from './stream-position.ts'

interface Linked {
  readonly caller: Caller
  /** Of the client. */
  readonly address: string
  readonly writer: NotificationWriter
  /** The position of a reader that reconnects. */
  readonly from: StreamPosition | undefined
  /** Aborts when the stream ends. */
  readonly signal: AbortSignal
  /** Ends the stream: its client comes back. */
  readonly leave: () => void
}

/** The wakes of one session's stream: which of them it takes may change with the session. Source: S1-28, D28. */
export class StreamWakes implements AsyncDisposable {
  readonly #context: McpFrontContext
  readonly #linked: Linked
  /** One for the subscriptions that were there when it opened, one for those that came at another time. */
  readonly #connections = new Set<Connection>()
  /** One act after the other: no subscription is connected twice. */
  #last: Promise<unknown> = Promise.resolve()
  /** The events that it takes now. */
  #events: ReadonlySet<string> = new Set()
  /** Ends its place among those that take the wakes of its agent. undefined: it takes none. */
  #untake: (() => void) | undefined
  /** Where a reader that reconnects was, until what it missed since is sent again. */
  #missedFrom: StreamPosition | undefined
  /** True when the next opening was counted as requests. */
  #isCounted = false
  #cancelRetry = (): void => {}
  #hasEnded = false

  constructor(context: McpFrontContext, linked: Linked) {
    this.#context = context
    this.#linked = linked
    this.#missedFrom = linked.from
  }

  /**
   * Connects the stream to the agent's subscriptions if the session takes wakes now, otherwise disconnects it. The wakes that a reader
   * missed that reconnects are sent again. Where the rates of its agent have no room for that, the stream stays open, and its wakes come
   * when they have. Source: S1-29.
   */
  follow(session: McpSession): Promise<void> {
    return this.#next(() => this.#follow(session))
  }

  /** Connects what waits of the subscriptions that it takes: of as many as one stream reads, the oldest first. */
  connectWaiting(): Promise<void> {
    return this.#next(async () => {
      if (!this.#untake) return
      const waiting = (await this.#subscriptions()).filter((one) => one.status === 'waiting' && one.streamId === null)
      await this.#connect(waiting)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#hasEnded = true
    await this.#last
    await this.#close()
  }

  #next(act: () => Promise<void>): Promise<void> {
    const done = this.#last.then(act)
    this.#last = done.catch(() => {})
    return done
  }

  async #follow(session: McpSession): Promise<void> {
    const { caller, writer, signal } = this.#linked
    this.#cancelRetry()
    this.#events = this.#hasEnded || signal.aborted ? new Set() : takenBy(session, caller)
    if (this.#events.size === 0) return this.#close()
    if (this.#untake) return
    const subscriptions = await this.#subscriptions()
    // Before anything can be refused: from any later event of this stream a reader continues there.
    writer.knows(subscriptions.map((one) => [one.id, seenOf(one, this.#missedFrom)]))
    const missed = subscriptions.filter((one) => (one.lastEmittedLogId ?? 0) > seenOf(one, this.#missedFrom))
    const waitMs = this.#spend(subscriptions.length, missed.length)
    if (waitMs > 0) return this.#retryAfter(waitMs, session)
    await this.#resync(missed)
    this.#untake = this.#context.mcp.streams.take({ agentId: caller.id, connectWaiting: () => this.connectWaiting() })
    await this.#connect(subscriptions)
  }

  /** The agent's subscriptions whose wakes it takes: as many as one stream reads, the oldest first. */
  async #subscriptions(): Promise<WakeSubscription[]> {
    const { caller } = this.#linked
    const all = await listSubscriptionsTo(this.#context.db, caller.id, 'mcp-notifications', subscriptionsMax)
    return all.filter(({ trigger }) => this.#events.has(eventTypeOf(trigger)))
  }

  /** Connects it to as many of these subscriptions as it has room for: the newest stream has them. */
  async #connect(subscriptions: readonly WakeSubscription[]): Promise<void> {
    const { caller, writer, signal } = this.#linked
    const { connections, streams } = this.#context.mcp
    const read = this.#read()
    const others = subscriptions.map(({ id }) => id).filter((id) => !read.includes(id))
    const fitting = others.slice(0, Math.max(0, subscriptionsMax - read.length))
    if (this.#hasEnded || fitting.length === 0) return
    const reader: StreamReader = {
      write: (_eventId, { body }) => writer.wake(body, signal),
      release: (_id, reason) => {
        // The stream has room for another one.
        if (reason === 'changed') streams.connectWaiting(caller.id)
      },
      // The stream has more to say than wakes, and stays. What the store had forgotten is connected anew.
      end: () => {
        this.#connections.delete(connection)
        void connections.end([connection]).then(() => streams.connectWaiting(caller.id))
      },
    }
    const connection = await connections.connectFit(caller, fitting, reader)
    if (connection.connected.length === 0) return
    this.#connections.add(connection)
    if (this.#hasEnded) return
    const before = connection.connected.map((one): [string, number] => [one.id, seenOf(one, undefined)])
    writer.reads(this.#read(), before)
    connection.begin()
  }

  #read(): string[] {
    return [...this.#connections].flatMap(({ stream }) => [...stream.subscriptionIds])
  }

  /** Counts the opening and its resyncs. Returns 0, or after how many ms the rates may have room. What is counted stays so. */
  #spend(subscriptions: number, resyncs: number): number {
    const { caller } = this.#linked
    const { admission } = this.#context
    try {
      if (!this.#isCounted) {
        if (subscriptions > 0) admission.requireLeft(caller, 'changesPerDay')
        admission.spend(caller, 'requestsPerMinute', '', furtherRequests(subscriptions))
        admission.charge(caller, 'changesPerDay', '', changesOf(subscriptions))
      }
      this.#isCounted = true
      if (resyncs > 0) admission.spend(caller, 'heavyPerMinute', resyncOperation.name, resyncs)
      return 0
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'rate-limited') throw error
      return Number(error.extra.retryAfterSeconds) * 1_000
    }
  }

  #retryAfter(waitMs: number, session: McpSession): void {
    const { clock, log } = this.#context
    this.#cancelRetry = clock.after(waitMs, () => {
      this.follow(session).catch((err: unknown) => {
        log.warn({ err }, 'mcp_wakes.unconnected')
        this.#linked.leave()
      })
    })
  }

  /** Moves the cursors back to what the reader got, where more was written since. The audit has each, as a resync by REST. */
  async #resync(missed: readonly WakeSubscription[]): Promise<void> {
    const { caller, address } = this.#linked
    for (const one of missed) {
      const resynced = resyncSubscription(this.#context.subscriptions, caller, one.id, seenOf(one, this.#missedFrom))
      const outcome = await resynced.then(() => 'ok', refusalOf)
      const called = { operation: resyncOperation, params: [one.id], reply: undefined, front: 'mcp' as const }
      await recordRestCall(this.#context.audit, { ...called, caller, address, outcome })
    }
    this.#missedFrom = undefined
  }

  async #close(): Promise<void> {
    this.#cancelRetry()
    this.#untake?.()
    this.#untake = undefined
    this.#missedFrom = undefined
    this.#isCounted = false
    const ending = [...this.#connections]
    this.#connections.clear()
    if (ending.length > 0) await this.#context.mcp.connections.end(ending)
  }
}

/** The `logId` of the last wake of a subscription that the reader got: what was written before, if its stream is new. Pure. */
function seenOf(subscription: WakeSubscription, from: StreamPosition | undefined): number {
  const { id, lastEmittedLogId, cursorLogId } = subscription
  return Math.min(from ? wakeSeen(from, id) : Number.POSITIVE_INFINITY, lastEmittedLogId ?? cursorLogId)
}

/** The events whose wakes go to a session: its client has agreed to them, its key may fetch them, its level lets them through. */
function takenBy(session: McpSession, { kind, scopes }: Caller): ReadonlySet<string> {
  const isTaken = kind === 'agent' && scopes.includes('work') && isLogged(session, 'info')
  return isTaken ? agreedWakes(session.initialize) : new Set()
}

/** A subscription that is off sends everything again when it is made active; what the log no longer has cannot be sent. */
const unmoved: readonly string[] = [
  'subscription-not-found',
  'subscription-paused',
  'subscription-degraded',
  'watermark-expired',
  'watermark-ahead',
]

/** Returns why a cursor was not moved. Errors: all others. */
function refusalOf(error: unknown): string {
  if (error instanceof Problem && unmoved.includes(error.code)) return error.code
  throw error
}

const resyncOperation = restTable.match('POST', '/v1/wake-subscriptions/id/resync')!.route.operation
