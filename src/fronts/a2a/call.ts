import type { ServerCallContext } from '@a2a-js/sdk/server'
import type { Agent } from '../../registry/agent.ts'
import type { Caller } from '../../registry/caller.ts'

/** One A2A call: who calls whom, until when. It travels through the SDK's transports as their authenticated user. */
export class A2aCall {
  readonly isAuthenticated = true
  readonly userName: string
  readonly caller: Caller
  readonly agent: Agent
  readonly idempotencyKey: string | undefined
  /** Where a reconnecting stream left off: a logId. */
  readonly lastEventId: number | undefined
  /** The logId of what the stream yields next: becomes its SSE id. */
  position: number | undefined
  readonly #untilClosed: () => AbortSignal
  #signal: AbortSignal | undefined

  constructor(call: {
    caller: Caller
    agent: Agent
    untilClosed: () => AbortSignal
    idempotencyKey?: string | undefined
    lastEventId?: number | undefined
  }) {
    this.userName = call.caller.identity
    this.caller = call.caller
    this.agent = call.agent
    this.#untilClosed = call.untilClosed
    this.idempotencyKey = call.idempotencyKey
    this.lastEventId = call.lastEventId
  }

  /**
   * Aborts when the client goes away or the gateway stops: the SDK's transports do not say so. Made when somebody waits: most
   * calls do not.
   */
  get signal(): AbortSignal {
    this.#signal ??= this.#untilClosed()
    return this.#signal
  }
}

/** The call behind an SDK context; the front put it there. */
export function callOf(context: ServerCallContext): A2aCall {
  if (context.user instanceof A2aCall) return context.user
  throw new Error('An A2A call came without its caller.')
}
