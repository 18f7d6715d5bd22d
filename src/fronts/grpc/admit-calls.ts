import { type Metadata, type ServerInterceptingCallInterface, type ServerInterceptor, status } from '@grpc/grpc-js'
import { tenantMetadata } from '../../agent-card/card.ts'
import { Problem, toProblem } from '../../errors.ts'
import { requireStillValid } from '../../identity/authenticate.ts'
import { beginSlice } from '../../lib/pauses.ts'
import { inputLimits } from '../../limits.ts'
import type { AgentFrontContext } from '../a2a/agent-routes.ts'
import { anyCall, callEntry } from '../access/a2a-access.ts'
import { grpcOperation } from '../access/a2a-operations.ts'
import { isRefusal } from '../access/when-to-record.ts'
import { bearerKeyOf } from '../auth.ts'
import type { ConnectionBounds } from '../connection-bounds.ts'
import type { CallTraffic } from '../grpc-traffic.ts'
import type { RequestQueue } from '../request-queue.ts'
import { readerOf } from '../unsent.ts'
import {
  type Admission,
  admitCaller,
  findCalled,
  type IncomingCall,
  metadataText,
  setAdmission,
  trailersFor,
} from './admission.ts'
import { RefusedMessage, UndecodedMessage } from './bounded-messages.ts'
import { type CallLine, CallLines } from './call-line.ts'
import { CallsOfConnection } from './calls-of-connection.ts'
import { refusal, sendableStatus } from './failure.ts'
import { gatherFrames } from './frames-of-call.ts'
import { bytesOf, MeteredCall, type Responder, streamOf } from './metered-call.ts'

/** What the port decides about calls. */
export interface GrpcEdge {
  readonly bounds: ConnectionBounds
  readonly queue: RequestQueue
  /** Called with the peer (`host:port`) of each call with a valid key. */
  readonly onAuthenticated: (peer: string) => void
  /** Returns what counts the bytes of the calls of a peer. */
  readonly trafficOf: (peer: string) => CallTraffic
}

/**
 * Admits calls of authenticated callers to agents that they may call. The key is checked before the message is read: a client
 * without one must not cost the gateway anything.
 */
export function admitCalls(
  context: AgentFrontContext,
  { bounds: { readerStall, grpcCalls, grpcCallsUnproven, bodyPieces }, queue, onAuthenticated, trafficOf }: GrpcEdge,
): ServerInterceptor {
  const { unsent, log } = context
  const lines = new CallLines(log)
  const meter = { unsent, stallMs: readerStall * 1000, refusal: (error: unknown) => refusal(error, log) }
  const calls = new CallsOfConnection(Math.min(grpcCalls, grpcCallsUnproven), grpcCalls)
  return (method, call) => {
    const traffic = trafficOf(call.getPeer())
    calls.begin(streamOf(call))
    gatherFrames(streamOf(call), bodyPieces, traffic)
    const incoming: IncomingCall = { path: method.path, address: '', caller: undefined, agent: undefined }
    const gate = new CallGate(
      context,
      call,
      { incoming, line: lines.begin(incoming), queue },
      ({ caller, request }, metadata) => {
        onAuthenticated(call.getPeer())
        traffic.received += sizeOf(metadata)
        calls.prove(streamOf(call))
        // What a stream has written in all says nothing about the next one. Its large events are counted before they are loaded.
        const noteAnswer = method.responseStream
          ? (bytes: number) => context.shares.noteBytes(caller, bytes)
          : (bytes: number) => gate.noteAnswer({ caller, request }, bytes)
        metered.count(readerOf(caller), noteAnswer)
        metered.onceClosed(() => context.shares.large.close(caller, request))
      },
    )
    const metered = new MeteredCall(call, gate.responder, method, meter)
    return metered
  }
}

type Status = Parameters<ServerInterceptingCallInterface['sendStatus']>[0]

type ReceivedMessage = { tenant?: string } | RefusedMessage | UndecodedMessage

type OnAuthenticated = (admitted: Pick<Admission, 'caller' | 'request'>, metadata: Metadata) => void

/** The names and values of a call's metadata, in bytes. */
function sizeOf(metadata: Metadata): number {
  return Object.entries(metadata.getMap()).reduce((sum, [name, value]) => sum + name.length + value.length, 0)
}

/** Admits or refuses one call. */
class CallGate {
  readonly #context: AgentFrontContext
  readonly #call: ServerInterceptingCallInterface
  readonly #onAuthenticated: OnAuthenticated
  readonly #incoming: IncomingCall
  readonly #line: CallLine
  readonly #queue: RequestQueue
  #leaveQueue = () => {}
  readonly #canceled = new AbortController()
  #bearer: string | undefined
  #forwardedFor: string | undefined
  #admitted: (Omit<Admission, 'agent'> & { metadata: Metadata }) | undefined
  /** The bytes of its message and of its answers so far. */
  #bytes = 0
  #isOver = false

  constructor(
    context: AgentFrontContext,
    call: ServerInterceptingCallInterface,
    { incoming, line, queue }: { incoming: IncomingCall; line: CallLine; queue: RequestQueue },
    onAuthenticated: OnAuthenticated,
  ) {
    this.#context = context
    this.#call = call
    this.#onAuthenticated = onAuthenticated
    this.#incoming = incoming
    this.#line = line
    this.#queue = queue
  }

  /** What the call does with its events. */
  get responder(): Responder {
    return {
      sendStatus: (status, next) => next(this.#finish(status)),
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, next) => this.#orRefuse(this.#onMetadata(metadata, next)),
          onReceiveMessage: (message: ReceivedMessage, next) => this.#orRefuse(this.#onMessage(message, next)),
          onReceiveHalfClose: (next) => next(),
          onCancel: () => {
            this.#canceled.abort('cancelled')
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
    await this.#waitInQueue(this.#queue.credentialOf(this.#bearer, address))
    if (this.#isOver) return
    const admitted = await admitCaller(this.#context, this.#incoming, metadata, {
      bearer: this.#bearer,
      canceled: this.#canceled.signal,
      leaveQueue: this.#leaveQueue,
    })
    this.#admitted = { metadata, address, front: 'grpc', ...admitted }
    // The client may have canceled meanwhile: then nothing else frees the place of the call.
    if (this.#isOver) return admitted.leave()
    this.#queue.prove(this.#bearer)
    this.#onAuthenticated(admitted, metadata)
    // Its length is not known, and it is in memory as a whole before anything can look at it.
    const { caller, request } = admitted
    if (await this.#context.shares.large.beginUpload(caller, request, inputLimits.a2aBody.max)) next(metadata)
  }

  /** Resolves when the call may begin, or is over. */
  #waitInQueue(credential: string): Promise<void> {
    return new Promise((resolve) => {
      const leave = this.#queue.begin(credential, () => resolve())
      this.#leaveQueue = () => {
        leave()
        resolve()
      }
    })
  }

  async #onMessage(received: ReceivedMessage, next: (message: { tenant?: string }) => void): Promise<void> {
    if (!this.#admitted) return
    const { metadata, ...admitted } = this.#admitted
    const { caller, request } = admitted
    const { shares } = this.#context
    this.#bytes = bytesOf(received)
    shares.large.endUpload(caller, request, this.#bytes)
    const message = received instanceof UndecodedMessage ? await this.#decode(received) : received
    if (!message) return
    const isRefused = message instanceof RefusedMessage
    // A message that was refused while it was decoded has no answer with which it would be noted.
    shares.noteBytes(caller, this.#bytes, isRefused ? request : undefined)
    if (isRefused) throw message.problem
    if (!(await shares.large.beginBody(caller, request, this.#bytes))) return
    requireStillValid(this.#context, caller, this.#bearer)
    const tenant = message.tenant || metadataText(metadata, tenantMetadata)
    const called = await findCalled(this.#context, this.#incoming, caller, tenant)
    setAdmission(metadata, { ...admitted, ...called })
    next(message)
  }

  /** Decodes a large message. undefined: the call is over. */
  async #decode(message: UndecodedMessage): Promise<{ tenant?: string } | RefusedMessage | undefined> {
    await beginSlice(this.#incoming.caller?.id ?? '')
    return this.#isOver ? undefined : message.decode()
  }

  /** Counts an answer of the call. */
  noteAnswer({ caller, request }: Pick<Admission, 'caller' | 'request'>, bytes: number): void {
    this.#bytes += bytes
    this.#context.shares.noteBytes(caller, bytes, request, this.#bytes)
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
    this.#leaveQueue()
    this.#admitted?.leave()
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
    const { shares, failedTries, log } = this.#context
    const { caller } = this.#incoming
    if (caller && isRateLimit(error) && !(await shares.mayRefuse(caller, this.#canceled.signal))) {
      this.#line.end(status.RESOURCE_EXHAUSTED)
      return this.#call.sendStatus({ code: status.RESOURCE_EXHAUSTED, details: 'Too many calls are refused.' })
    }
    recordRefused(this.#context, error, this.#incoming)
    const from = { remote: hostOf(this.#call.getPeer()), forwardedFor: this.#forwardedFor }
    const answer = refusal(failedTries.judge(error, from, this.#bearer), log)
    this.#line.end(answer.code)
    this.#call.sendStatus(answer)
  }
}

function isRateLimit(error: unknown): boolean {
  return error instanceof Problem && error.code === 'rate-limited'
}

function recordRefused({ audit }: AgentFrontContext, error: unknown, incoming: IncomingCall): void {
  const { code: outcome } = toProblem(error)
  const operation = grpcOperation(incoming.path)?.name ?? anyCall
  if (isRefusal(outcome)) audit.refuse(callEntry({ ...incoming, front: 'grpc', operation, outcome }))
}

/** The address of `127.0.0.1:4711` and of `::1:4711`, the two forms in which grpc-js writes a peer. */
function hostOf(peer: string): string {
  return peer.slice(0, Math.max(0, peer.lastIndexOf(':')))
}
