import type { ServerCallContext } from '@a2a-js/sdk/server'
import type { AuditFront } from '../../audit/entry.ts'
import { type OpenCall, type OpenCallKind, type OpenCalls, revoked } from '../../identity/open-calls.ts'
import type { Agent } from '../../registry/agents/agent.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import type { A2aOperation } from '../access/a2a-operations.ts'
import type { Unsent } from '../unsent.ts'

/** What every call needs of the gateway. */
export interface CallContext {
  readonly openCalls: OpenCalls
  readonly unsent: Unsent
  /** Aborts when the gateway stops. */
  readonly stopping: AbortSignal
}

interface CallFacts {
  readonly caller: Caller
  readonly agent: Agent
  readonly operation: A2aOperation
  readonly front: AuditFront
  readonly address: string
  readonly idempotencyKey?: string | undefined
  readonly lastEventId?: number | undefined
}

/** One A2A call: who calls whom, until when. It travels through the SDK's transports as their authenticated user. */
export abstract class A2aCall {
  readonly isAuthenticated = true
  readonly userName: string
  readonly caller: Caller
  readonly agent: Agent
  /** What is asked for; the table of operations lets this caller do it. */
  readonly operation: A2aOperation
  readonly front: AuditFront
  /** The IP address that it came from. */
  readonly address: string
  /** Whether the audit has it. */
  isRecorded = false
  readonly idempotencyKey: string | undefined
  /** Where a reconnecting stream left off: a logId. */
  readonly lastEventId: number | undefined
  /** The logId of what the stream yields next: becomes its SSE id. */
  position: number | undefined
  /** What the operation threw, for a transport that knows a better form for it. */
  failure: unknown
  protected readonly context: CallContext
  #held: OpenCall | undefined
  #signal: AbortSignal | undefined
  #loaded = () => {}

  constructor(call: CallFacts, context: CallContext) {
    this.userName = call.caller.identity
    this.caller = call.caller
    this.agent = call.agent
    this.operation = call.operation
    this.front = call.front
    this.address = call.address
    this.idempotencyKey = call.idempotencyKey
    this.lastEventId = call.lastEventId
    this.context = context
  }

  /**
   * Notes that the call stays open, until what is returned is disposed of. Errors: `limit-exceeded`, `unauthenticated`.
   */
  hold(kind: OpenCallKind): Disposable {
    const held = this.context.openCalls.hold(this.caller, kind)
    this.#held = held
    return held
  }

  /** Whether the key or its agent was taken away while the call was held open. */
  get isRevoked(): boolean {
    return this.#held?.signal.aborted ?? false
  }

  /** Errors: `unauthenticated` when the key or its agent was taken away while the call was held open. */
  requireHeld(): void {
    if (this.isRevoked) throw revoked()
  }

  /**
   * Aborts when the client goes away, the gateway stops or what is held is taken away: the SDK's transports do not say so. Made
   * when somebody waits: most calls do not.
   */
  get signal(): AbortSignal {
    const { stopping } = this.context
    this.#signal ??= this.untilClosed(this.#held ? [stopping, this.#held.signal] : [stopping])
    return this.#signal
  }

  /** Waits until one more event may be loaded; it counts as being loaded until the transport has written it. */
  async startLoading(): Promise<void> {
    this.#loaded = await this.context.unsent.load(this.caller.keyId, this.signal)
  }

  /** Notes that what was loaded is written, or not told at all. */
  noteLoaded(): void {
    this.#loaded()
  }

  /** Notes that the answer is a stream, before its first event. */
  abstract beginStream(): void

  /** Called at the end of a stream. Throws when it ended before its time and the client has not been told. */
  abstract finishStream(): void

  /** Resolves when the client has taken what was written to it, or the call is over. */
  abstract taken(): Promise<void>

  protected get revokedSignal(): AbortSignal {
    return this.#held!.signal
  }

  /** A signal that aborts when the client goes away, or one of the others does. */
  protected abstract untilClosed(others: AbortSignal[]): AbortSignal
}

/** The call behind an SDK context; the front put it there. */
export function callOf(context: ServerCallContext): A2aCall {
  if (context.user instanceof A2aCall) return context.user
  throw new Error('An A2A call came without its caller.')
}
