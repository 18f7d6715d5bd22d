import type { A2AError } from '@a2a-js/sdk/errors'
import type { ServerCallContext } from '@a2a-js/sdk/server'
import type { Slot } from '../../admission/slots.ts'
import type { AuditFront } from '../../audit/entry.ts'
import { type OpenCall, type OpenCallKind, revoked } from '../../identity/open-calls.ts'
import { readTraceparent } from '../../lib/trace-parent.ts'
import type { Agent } from '../../registry/agents/agent.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import type { A2aOperation } from '../access/a2a-operations.ts'
import { beginChange } from '../access/changes.ts'
import type { FrontContext } from '../front-context.ts'

/** The page that a client asks for. */
export interface PageRequest {
  readonly pageSize?: number
  readonly pageToken?: string
}

interface CallFacts {
  readonly caller: Caller
  readonly agent: Agent
  readonly operation: A2aOperation
  readonly front: AuditFront
  readonly address: string
  readonly slot: Slot
  readonly idempotencyKey?: string | undefined
  /** The header of W3C Trace Context, as it came. */
  readonly traceparent?: string | undefined
  readonly lastEventId?: number | undefined
  readonly pageRequest?: PageRequest
}

/** One A2A call with its caller, its agent and its lifetime. It travels through the SDK's transports as their authenticated user. */
export abstract class A2aCall {
  readonly isAuthenticated = true
  readonly userName: string
  readonly caller: Caller
  readonly agent: Agent
  /** The operation that is called. The table of operations allows it to this caller. */
  readonly operation: A2aOperation
  readonly front: AuditFront
  /** The client's IP address. */
  readonly address: string
  /** Held while its operation runs, and released when it begins to wait or to stream. */
  readonly slot: Slot
  /** True when the audit has recorded the call. */
  isRecorded = false
  readonly idempotencyKey: string | undefined
  /** The trace that the call is part of. */
  readonly traceparent: string | undefined
  /** The logId of the last event that a reconnecting stream has seen. */
  readonly lastEventId: number | undefined
  /** The page that the query of an HTTP+JSON call asks for: the SDK does not read it for push configs. */
  readonly pageRequest: PageRequest
  /** The logId of the event that the stream yields next. It becomes the SSE id. */
  position: number | undefined
  /** The code of what the operation threw. */
  problem: string | undefined
  /** The error that the operation threw, for a transport with a form of its own for it. */
  failure: unknown
  protected readonly context: FrontContext
  #openCall: OpenCall | undefined
  #signal: AbortSignal | undefined
  #loaded = () => {}

  constructor(call: CallFacts, context: FrontContext) {
    this.userName = call.caller.identity
    this.caller = call.caller
    this.agent = call.agent
    this.operation = call.operation
    this.front = call.front
    this.address = call.address
    this.slot = call.slot
    this.idempotencyKey = call.idempotencyKey
    this.traceparent = readTraceparent(call.traceparent)
    this.lastEventId = call.lastEventId
    this.pageRequest = call.pageRequest ?? {}
    this.context = context
  }

  /** The most bytes of a task's history and artifacts in the answer. */
  get sizeMax(): number {
    return this.context.answerMax
  }

  /** Checks that the caller may make one more change, if the call is one. Returns the function that counts it. Errors: `rate-limited`. */
  beginChange(): () => void {
    return beginChange(this.context.admission, this.operation, this.caller)
  }

  /** Called with the failure of the call before the SDK answers with it, for a transport that adds something to the answer. */
  beforeFailure(_failure: A2AError): void {}

  /** Counts the call as open until the returned object is disposed. Errors: `limit-exceeded`, `unauthenticated`. */
  open(kind: OpenCallKind): Disposable {
    const opened = this.context.openCalls.open(this.caller, kind)
    this.#openCall = opened
    return opened
  }

  /** True when the key was revoked, or its agent removed, while the call was open. */
  get isRevoked(): boolean {
    return this.#openCall?.signal.aborted ?? false
  }

  /** Errors: `unauthenticated` when the key was revoked, or its agent removed, while the call was open. */
  requireNotRevoked(): void {
    if (this.isRevoked) throw revoked()
  }

  /**
   * Aborts when the client goes away, the gateway stops or the key is revoked: the SDK's transports report none of these. Created
   * on first use, because most calls never wait.
   */
  get signal(): AbortSignal {
    const { stopping } = this.context
    this.#signal ??= this.untilClosed(this.#openCall ? [stopping, this.#openCall.signal] : [stopping])
    return this.#signal
  }

  /** Waits until one more event may be loaded. It counts as loading until `noteLoaded`. */
  async startLoading(): Promise<void> {
    this.#loaded = await this.context.admission.unread.load(this.caller, this.signal)
  }

  /** Notes that the transport has written the loaded event, or that the event is not sent. */
  noteLoaded(): void {
    this.#loaded()
  }

  /**
   * Builds the answer of a call that has waited. Calls that wait for the same change end together, so each waits for its turn, also one that
   * was aborted. Errors: `unauthenticated`.
   */
  async buildInTurn<T>(build: () => Promise<T>): Promise<T> {
    const loaded = await this.context.admission.unread.load(this.caller)
    try {
      this.requireNotRevoked()
      return await build()
    } finally {
      // The transport writes the answer in this turn of the loop.
      setImmediate(loaded)
    }
  }

  /** Prepares the transport for a stream, before its first event. */
  abstract beginStream(): void

  /** Called at the end of a stream. Throws if the stream was cut off and the client does not know yet. */
  abstract finishStream(): void

  /** Resolves when the client has read what was written to it, or the call is over. */
  abstract taken(): Promise<void>

  protected get revokedSignal(): AbortSignal {
    return this.#openCall!.signal
  }

  /** A signal that aborts when the client disconnects, or when one of `others` aborts. */
  protected abstract untilClosed(others: AbortSignal[]): AbortSignal
}

/** The A2A call of an SDK context. The front has put it there. */
export function callOf(context: ServerCallContext): A2aCall {
  if (context.user instanceof A2aCall) return context.user
  throw new Error('An A2A call came without its caller.')
}
