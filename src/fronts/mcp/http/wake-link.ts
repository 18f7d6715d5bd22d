import { Problem } from '../../../errors.ts'
import { isLogged, type McpSession } from '../../../mcp-sessions/mcp-session.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import type { WakeSubscription } from '../../../registry/subscriptions/subscription.ts'
import { resyncSubscription } from '../../../subscriptions/resync.ts'
import { changesOf, furtherRequests } from '../../../wake-stream/open-cost.ts'
import { recordRestCall } from '../../access/rest-access.ts'
import { restTable } from '../../rest/table.ts'
import { wantsWakes } from './capabilities.ts'
import type { McpFrontContext } from './context.ts'
import type { NotificationWriter } from './notification-writer.ts'
import { wakesTo } from './session-wakes.ts'
import { type StreamPosition, wakeSeen } from './stream-position.ts'

interface LinkContext
  extends Pick<McpFrontContext, 'db' | 'clock' | 'log' | 'mcp' | 'shares' | 'subscriptions' | 'audit'> {}

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

/** The wakes of one session's stream: whether it takes any may change with the session. */
export class WakeLink implements AsyncDisposable {
  readonly #context: LinkContext
  readonly #linked: Linked
  #open: AsyncDisposable | undefined
  #last: Promise<void> = Promise.resolve()
  /** Where a reader that reconnects was, until what it missed since is sent again. */
  #missedFrom: StreamPosition | undefined
  /** Whether the next opening was counted as requests. */
  #isCounted = false
  #cancelRetry = (): void => {}
  #hasEnded = false

  constructor(context: LinkContext, linked: Linked) {
    this.#context = context
    this.#linked = linked
    this.#missedFrom = linked.from
  }

  /**
   * Connects the stream to the agent's subscriptions if the session accepts wakes now, otherwise disconnects it. The wakes that a reader
   * missed that reconnects are sent again. Where the rates of its agent have no room for that, the stream stays open, and its wakes come
   * when they have. Source: S1-29.
   */
  follow(session: McpSession): Promise<void> {
    const next = this.#last.then(() => this.#follow(session))
    this.#last = next.catch(() => {})
    return next
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#hasEnded = true
    await this.#last
    await this.#close()
  }

  async #follow(session: McpSession): Promise<void> {
    const { caller, writer, signal } = this.#linked
    this.#cancelRetry()
    if (this.#hasEnded || signal.aborted || !takesWakes(session, caller)) return this.#close()
    if (this.#open) return
    const subscriptions = await wakesTo(this.#context.db, caller.id)
    // Before anything can be refused: from any later event of this stream a reader continues there.
    writer.knows(subscriptions.map((one) => [one.id, seenOf(one, this.#missedFrom)]))
    const missed = subscriptions.filter((one) => (one.lastEmittedLogId ?? 0) > seenOf(one, this.#missedFrom))
    const waitMs = this.#spend(subscriptions.length, missed.length)
    if (waitMs > 0) return this.#retryAfter(waitMs, session)
    await this.#resync(missed)
    this.#open = await this.#context.mcp.wakes.open(
      {
        caller,
        write: (body) => writer.wake(body, signal),
        takes: (added, all) =>
          writer.reads(
            all,
            added.map((one) => [one.id, seenOf(one, undefined)]),
          ),
      },
      subscriptions.map(({ id }) => id),
    )
  }

  /** Counts the opening and its resyncs. Returns 0, or after how many ms the rates may have room. What is counted stays so. */
  #spend(subscriptions: number, resyncs: number): number {
    const { caller } = this.#linked
    const { shares } = this.#context
    try {
      if (!this.#isCounted) this.#spendOpening(subscriptions)
      this.#isCounted = true
      if (resyncs > 0) shares.spend(caller, 'replaysPerMinute', resyncs)
      return 0
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'rate-limited') throw error
      return Number(error.extra.retryAfterSeconds) * 1_000
    }
  }

  #spendOpening(subscriptions: number): void {
    const { caller } = this.#linked
    const { shares } = this.#context
    if (subscriptions > 0) shares.requireLeft(caller, 'changesPerDay')
    shares.spendFurther(caller, furtherRequests(subscriptions))
    shares.charge(caller, 'changesPerDay', caller.id, changesOf(subscriptions))
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
    const { caller } = this.#linked
    for (const one of missed) {
      const resynced = resyncSubscription(this.#context.subscriptions, caller, one.id, seenOf(one, this.#missedFrom))
      const refusal = await resynced.then(() => undefined, refusalOf)
      await this.#record(one.id, refusal?.code ?? 'ok')
    }
    this.#missedFrom = undefined
  }

  async #record(subscriptionId: string, outcome: string): Promise<void> {
    const { caller, address } = this.#linked
    const called = { operation: resyncOperation, params: [subscriptionId], reply: undefined, front: 'mcp' as const }
    await recordRestCall(this.#context.audit, { ...called, caller, address, outcome })
  }

  async #close(): Promise<void> {
    const open = this.#open
    this.#cancelRetry()
    this.#open = undefined
    this.#missedFrom = undefined
    this.#isCounted = false
    await open?.[Symbol.asyncDispose]()
  }
}

/** The `logId` of the last wake of a subscription that the reader got: what was written before, if its stream is new. Pure. */
function seenOf(subscription: WakeSubscription, from: StreamPosition | undefined): number {
  const { id, lastEmittedLogId, cursorLogId } = subscription
  return Math.min(from ? wakeSeen(from, id) : Number.POSITIVE_INFINITY, lastEmittedLogId ?? cursorLogId)
}

/** Whether the wakes of an agent go to a session: its client requested them, its key may fetch them, its level lets them through. */
function takesWakes(session: McpSession, { kind, scopes }: Caller): boolean {
  return kind === 'agent' && scopes.includes('work') && wantsWakes(session.initialize) && isLogged(session, 'info')
}

/** What is off sends everything again when it is made active; what the log no longer has cannot be sent. */
const unmoved: readonly string[] = [
  'subscription-not-found',
  'subscription-paused',
  'subscription-degraded',
  'watermark-expired',
  'watermark-ahead',
]

/** Returns why a cursor was not moved. Errors: all others. */
function refusalOf(error: unknown): Problem {
  if (error instanceof Problem && unmoved.includes(error.code)) return error
  throw error
}

const resyncOperation = restTable.match('POST', '/v1/wake-subscriptions/id/resync')!.route.operation
