import type { A2AError } from '@a2a-js/sdk/errors'
import type { ServerCallContext } from '@a2a-js/sdk/server'
import type { AuditFront } from '../../audit/entry.ts'
import { type OpenCall, type OpenCallKind, type OpenCalls, revoked } from '../../identity/open-calls.ts'
import type { Agent } from '../../registry/agents/agent.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import type { Shares } from '../../registry/shares/shares.ts'
import type { BeginReading } from '../../tasks/content-within.ts'
import type { A2aOperation } from '../access/a2a-operations.ts'
import { beginChange } from '../access/changes.ts'
import { readerOf, type Unsent } from '../unsent.ts'

/** The parts of the gateway that every call uses. */
export interface CallContext {
  readonly openCalls: OpenCalls
  readonly unsent: Unsent
  /** What each agent and project may use of this gateway. */
  readonly shares: Shares
  /** Aborts when the gateway stops. */
  readonly stopping: AbortSignal
}

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
  readonly idempotencyKey?: string | undefined
  readonly lastEventId?: number | undefined
  readonly pageRequest?: PageRequest
  readonly beginReading: BeginReading
  readonly sizeMax?: number | undefined
  readonly beginEvent: BeginEvent
  readonly endReading: () => void
  readonly during: During
}

/** Does work that has content in memory: the content counts until the work is over, even if the client goes away before. */
type During = <T>(work: () => Promise<T>) => Promise<T>

/** Waits until an event of a size may be written, or until the signal aborts. */
type BeginEvent = (bytes: number, gone: AbortSignal) => Promise<void>

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
  /** Whether the audit has recorded the call. */
  isRecorded = false
  readonly idempotencyKey: string | undefined
  /** The logId of the last event that a reconnecting stream has seen. */
  readonly lastEventId: number | undefined
  /** The page that the query of an HTTP+JSON call asks for: the SDK does not read it for push configs. */
  readonly pageRequest: PageRequest
  readonly beginReading: BeginReading
  /** The most bytes of a task in the answer to a message; undefined: as many as any answer carries. */
  readonly sizeMax: number | undefined
  readonly during: During
  readonly #beginEvent: BeginEvent
  readonly #endReading: () => void
  /** The logId of the event that the stream yields next. It becomes the SSE id. */
  position: number | undefined
  /** The code of what the operation threw. */
  problem: string | undefined
  /** What the operation threw, for a transport with a form of its own for it. */
  failure: unknown
  protected readonly context: CallContext
  #openCall: OpenCall | undefined
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
    this.pageRequest = call.pageRequest ?? {}
    this.beginReading = call.beginReading
    this.sizeMax = call.sizeMax
    this.#beginEvent = call.beginEvent
    this.#endReading = call.endReading
    this.during = call.during
    this.context = context
  }

  /** Checks that the caller may make one more change, if the call is one. Returns the function that counts it. Errors: `rate-limited`. */
  beginChange(): () => void {
    return beginChange(this.context.shares, this.operation, this.caller)
  }

  /** Called with the failure of the call before the SDK answers with it, for a transport that adds something to the answer. */
  beforeFailure(_failure: A2AError): void {}

  /** Counts the call as open until the returned object is disposed. Errors: `limit-exceeded`, `unauthenticated`. */
  open(kind: OpenCallKind): Disposable {
    const opened = this.context.openCalls.open(this.caller, kind)
    this.#openCall = opened
    return opened
  }

  /** Whether the key was revoked, or its agent removed, while the call was open. */
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
    this.#loaded = await this.context.unsent.load(readerOf(this.caller), this.signal)
  }

  /** Waits until the loaded event may be written: a large one keeps the gateway busy once for each of its streams. */
  async beginEvent(bytes: number): Promise<void> {
    await this.#beginEvent(bytes, this.signal)
  }

  /** Notes that the transport has written the loaded event, or that the event is not sent. */
  noteLoaded(): void {
    this.#loaded()
    this.#endReading()
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
