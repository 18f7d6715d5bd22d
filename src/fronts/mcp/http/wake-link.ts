import { Problem } from '../../../errors.ts'
import { isLogged, type McpSession } from '../../../mcp-sessions/mcp-session.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import type { WakeSubscription } from '../../../registry/subscriptions/subscription.ts'
import { resyncSubscription } from '../../../subscriptions/resync.ts'
import { recordRestCall } from '../../access/rest-access.ts'
import { restTable } from '../../rest/table.ts'
import { wantsWakes } from './capabilities.ts'
import type { McpFrontContext } from './context.ts'
import type { NotificationWriter } from './notification-writer.ts'
import { wakesTo } from './session-wakes.ts'
import { type StreamPosition, wakeSeen } from './stream-position.ts'

interface LinkContext extends Pick<McpFrontContext, 'db' | 'log' | 'mcp' | 'shares' | 'subscriptions' | 'audit'> {}

interface Linked {
  readonly caller: Caller
  /** Of the client. */
  readonly address: string
  readonly writer: NotificationWriter
  /** Aborts when the stream ends. */
  readonly signal: AbortSignal
}

/** The wakes of one session's stream: whether it takes any may change with the session. */
export class WakeLink implements AsyncDisposable {
  readonly #context: LinkContext
  readonly #linked: Linked
  #open: AsyncDisposable | undefined
  #last: Promise<void> = Promise.resolve()

  constructor(context: LinkContext, linked: Linked) {
    this.#context = context
    this.#linked = linked
  }

  /**
   * Connects the stream to the agent's subscriptions if the session accepts wakes now, otherwise disconnects it. With the position of a
   * reader that reconnects, the wakes that it missed are sent again. Errors: `rate-limited` for a reader that reconnects too often. Source: S1-29.
   */
  follow(session: McpSession, from?: StreamPosition): Promise<void> {
    const next = this.#last.then(() => this.#follow(session, from))
    this.#last = next.catch(() => {})
    return next
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#last
    await this.#close()
  }

  async #follow(session: McpSession, from: StreamPosition | undefined): Promise<void> {
    const { caller, writer, signal } = this.#linked
    const wanted = takesWakes(session, caller) && !signal.aborted
    if (!wanted) return this.#close()
    if (this.#open) return
    const subscriptions = await wakesTo(this.#context.db, caller.id)
    if (from) await this.#resync(subscriptions, from)
    for (const { id, cursorLogId, lastEmittedLogId } of subscriptions) {
      const seen = from && wakeSeen(from, id)
      writer.knows(id, Math.min(seen ?? Number.POSITIVE_INFINITY, lastEmittedLogId ?? cursorLogId))
    }
    const write = (body: string): Promise<boolean> => writer.wake(body, signal)
    this.#open = await this.#context.mcp.wakes.open(
      { caller, write },
      subscriptions.map(({ id }) => id),
    )
  }

  /** Moves the cursors back to what the reader got, where more was written since. The audit has each, as a resync by REST. */
  async #resync(subscriptions: readonly WakeSubscription[], from: StreamPosition): Promise<void> {
    const { caller } = this.#linked
    const { shares, subscriptions: context } = this.#context
    const missed = subscriptions.filter(({ id, lastEmittedLogId }) => (lastEmittedLogId ?? 0) > wakeSeen(from, id))
    if (missed.length === 0) return
    shares.spend(caller, 'replaysPerMinute')
    for (const { id } of missed) {
      const refusal = await resyncSubscription(context, caller, id, wakeSeen(from, id)).then(() => undefined, refusalOf)
      await this.#record(id, refusal?.code ?? 'ok')
    }
  }

  async #record(subscriptionId: string, outcome: string): Promise<void> {
    const { caller, address } = this.#linked
    const called = { operation: resyncOperation, params: [subscriptionId], reply: undefined, front: 'mcp' as const }
    await recordRestCall(this.#context.audit, { ...called, caller, address, outcome })
  }

  async #close(): Promise<void> {
    const open = this.#open
    this.#open = undefined
    await open?.[Symbol.asyncDispose]()
  }
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
