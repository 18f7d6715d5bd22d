import {
  type Metadata,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  status,
} from '@grpc/grpc-js'
import { tenantMetadata } from '../../agent-card/card.ts'
import { toProblem } from '../../errors.ts'
import { requireStillValid } from '../../identity/authenticate.ts'
import type { Release } from '../../lib/semaphores.ts'
import { anyCall, callEntry } from '../access/a2a-access.ts'
import { grpcOperation } from '../access/a2a-operations.ts'
import { isRefusal } from '../access/when-to-record.ts'
import type { ConnectionBounds } from '../connection-bounds.ts'
import type { FrontContext } from '../front-context.ts'
import { bearerKeyOf } from '../http/auth.ts'
import { noteRefusal } from '../note-refusal.ts'
import {
  type AdmittedCall,
  admitCaller,
  findCalled,
  type IncomingCall,
  metadataText,
  setAdmitted,
  trailersFor,
} from './admitted-call.ts'
import { RefusedMessage } from './bounded-messages.ts'
import { type CallLine, CallLines } from './call-line.ts'
import type { ConnectionCalls } from './connection-calls.ts'
import { refusal, sendableStatus } from './failure.ts'
import { bytesOf, MeteredCall, type Responder } from './metered-call.ts'

/** The bounds of the port for its connections, and the calls on each. */
export interface GrpcEdge {
  readonly bounds: ConnectionBounds
  readonly calls: ConnectionCalls
}

/**
 * Admits calls of authenticated callers to agents that they may call. The key is checked before the message is read: a client
 * without one must not cost the gateway anything.
 */
export function admitCalls(context: FrontContext, { bounds: { readerStall }, calls }: GrpcEdge): ServerInterceptor {
  const { admission, log } = context
  const lines = new CallLines(log)
  const meter = {
    unread: admission.unread,
    stallMs: readerStall * 1000,
    refusal: (error: unknown) => refusal(error, log),
  }
  return (method, call) => {
    const peer = call.getPeer()
    // One read of a connection may hold hundreds of calls more.
    if (!calls.begin(peer)) return new ServerInterceptingCall(call, { start() {} })
    const incoming: IncomingCall = { path: method.path, address: '', caller: undefined, agent: undefined }
    const gate = new CallGate(context, call, incoming, lines.begin(incoming), (caller) => {
      calls.prove(peer)
      metered.count(caller, (bytes) => admission.noteBytes(caller, bytes))
    })
    const metered = new MeteredCall(call, gate.responder, method, meter)
    return metered
  }
}

type Status = Parameters<ServerInterceptingCallInterface['sendStatus']>[0]

type ReceivedMessage = { tenant?: string } | RefusedMessage

/** Admits or refuses one call. */
class CallGate {
  readonly #context: FrontContext
  readonly #call: ServerInterceptingCallInterface
  readonly #onAuthenticated: (caller: AdmittedCall['caller']) => void
  readonly #incoming: IncomingCall
  readonly #line: CallLine
  #bearer: string | undefined
  #forwardedFor: string | undefined
  #admitted: (Omit<AdmittedCall, 'agent'> & { metadata: Metadata }) | undefined
  #freeBody: Release = () => {}
  #isOver = false

  constructor(
    context: FrontContext,
    call: ServerInterceptingCallInterface,
    incoming: IncomingCall,
    line: CallLine,
    onAuthenticated: (caller: AdmittedCall['caller']) => void,
  ) {
    this.#context = context
    this.#call = call
    this.#onAuthenticated = onAuthenticated
    this.#incoming = incoming
    this.#line = line
  }

  /** The handlers of the call for its events. */
  get responder(): Responder {
    return {
      sendStatus: (status, next) => next(this.#finish(status)),
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, next) => this.#orRefuse(this.#onMetadata(metadata, next)),
          onReceiveMessage: (message: ReceivedMessage, next) => this.#orRefuse(this.#onMessage(message, next)),
          onReceiveHalfClose: (next) => next(),
          onCancel: () => {
            this.#end()
            this.#line.end(status.CANCELLED)
          },
        }),
    }
  }

  async #onMetadata(metadata: Metadata, next: (metadata: Metadata) => void): Promise<void> {
    this.#line.name(metadataText(metadata, 'x-request-id'))
    this.#bearer = bearerKeyOf(metadataText(metadata, 'authorization'))
    this.#forwardedFor = metadataText(metadata, 'x-forwarded-for')
    const address = this.#context.clientAddress(hostOf(this.#call.getPeer()), this.#forwardedFor)
    this.#incoming.address = address
    const admitted = await admitCaller(this.#context, this.#incoming, metadata, this.#bearer)
    this.#admitted = { metadata, address, front: 'grpc', ...admitted }
    // Its length is not known, and it is in memory as a whole before anything can look at it.
    if (!this.#isOver) this.#freeBody = await this.#context.admission.holdBody(admitted.caller, undefined)
    // The client may have cancelled meanwhile: then nothing else frees what the call has.
    if (this.#isOver) return this.#end()
    this.#onAuthenticated(admitted.caller)
    next(metadata)
  }

  async #onMessage(message: ReceivedMessage, next: (message: { tenant?: string }) => void): Promise<void> {
    if (!this.#admitted) return
    const { metadata, ...admitted } = this.#admitted
    const { caller } = admitted
    using _held = admitted.slot.hold()
    const bytes = bytesOf(message)
    this.#context.admission.noteBytes(caller, bytes)
    // A call may stay open for long: from here on it holds room for its message alone.
    this.#freeBody(bytes)
    if (message instanceof RefusedMessage) throw message.problem
    requireStillValid(this.#context, caller, this.#bearer)
    const tenant = message.tenant || metadataText(metadata, tenantMetadata)
    const called = await findCalled(this.#context, this.#incoming, caller, tenant)
    setAdmitted(metadata, { ...admitted, ...called })
    next(message)
  }

  /** The final status of the call: with the trailers that were set for it, and in a form that can be sent. */
  #finish(status: Status): Status {
    this.#end()
    this.#line.end(status.code ?? 0)
    const trailers = this.#admitted && trailersFor(this.#admitted.metadata)
    return sendableStatus(trailers ? { ...status, metadata: trailers } : status)
  }

  #end(): void {
    this.#isOver = true
    this.#admitted?.slot.end()
    this.#freeBody()
  }

  /** A failure to send a refusal concerns this call only. */
  #orRefuse(step: Promise<void>): void {
    const { log } = this.#context
    step
      .catch((error: unknown) => this.#refuse(error))
      .catch((cause: unknown) => log.error({ err: cause, path: this.#incoming.path }, 'grpc.refusal_failed'))
  }

  async #refuse(error: unknown): Promise<void> {
    this.#end()
    const { wrongKeys, metrics, log } = this.#context
    recordRefused(this.#context, error, this.#incoming)
    const from = { remote: hostOf(this.#call.getPeer()), forwardedFor: this.#forwardedFor }
    const judged = await wrongKeys.judge(error, from, this.#bearer)
    noteRefusal(metrics, judged)
    const answer = refusal(judged, log)
    this.#line.end(answer.code)
    this.#call.sendStatus(answer)
  }
}

function recordRefused({ audit }: FrontContext, error: unknown, incoming: IncomingCall): void {
  const { code: outcome } = toProblem(error)
  const operation = grpcOperation(incoming.path)?.name ?? anyCall
  if (isRefusal(outcome)) audit.refuse(callEntry({ ...incoming, front: 'grpc', operation, outcome }))
}

/** The address of `127.0.0.1:4711` and of `::1:4711`, the two forms in which grpc-js writes a peer. */
function hostOf(peer: string): string {
  return peer.slice(0, Math.max(0, peer.lastIndexOf(':')))
}
