import { VersionNotSupportedError } from '@a2a-js/sdk/errors'
import { type Metadata, type ServerInterceptor, status } from '@grpc/grpc-js'
import { tenantMetadata } from '../../agent-card/card.ts'
import { Problem, toProblem } from '../../errors.ts'
import { authenticate } from '../../identity/authenticate.ts'
import type { Agent } from '../../registry/agents/agent.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import type { AgentFrontContext } from '../a2a/agent-routes.ts'
import { findCalledAgent, requireWelcome } from '../a2a/called-agent.ts'
import { anyCall, callEntry } from '../access/a2a-access.ts'
import { type A2aOperation, grpcOperation } from '../access/a2a-operations.ts'
import { authorise } from '../access/authorise.ts'
import { isRefusal } from '../access/when-to-record.ts'
import { bearerKeyOf } from '../auth.ts'
import type { ConnectionBounds } from '../connection-bounds.ts'
import { idempotencyKey } from '../idempotency-key.ts'
import { refusal, sayableStatus } from './failure.ts'
import { bytesOf, MeteredCall, type Responder } from './metered-call.ts'
import { RefusedMessage } from './modest-messages.ts'
import { parseTenant } from './tenant.ts'

/** What is known of a call before the SDK sees it. */
export interface Admission {
  readonly caller: Caller
  readonly agent: Agent
  readonly operation: A2aOperation
  readonly front: 'grpc'
  readonly address: string
  readonly idempotencyKey: string | undefined
  /** Gives back the room that the call takes at the gateway. */
  readonly leave: () => void
}

const trailers = new WeakMap<Metadata, Metadata>()

/** Has these go with the status of the call that came with this metadata. */
export function sendWith(metadata: Metadata, sent: Metadata): void {
  trailers.set(metadata, sent)
}

const admissions = new WeakMap<Metadata, Admission>()

/** The admission of the call that came with this metadata. */
export function admissionOf(metadata: Metadata): Admission {
  const admission = admissions.get(metadata)
  if (!admission) throw new Error('A gRPC call reached the SDK without being admitted.')
  return admission
}

/**
 * Lets only holders of a key through, to an agent that they may call. The key before the message: nobody without one makes
 * the gateway read anything.
 */
export function admitCalls(
  context: AgentFrontContext,
  { readerStall }: Pick<ConnectionBounds, 'readerStall'>,
  proved: (peer: string) => void,
): ServerInterceptor {
  const { unsent, log } = context
  const meter = { unsent, stallMs: readerStall * 1000, refusal: (error: unknown) => refusal(error, log) }
  return (method, call) => {
    const seen: Seen = { path: method.path, address: '', caller: undefined, agent: undefined }
    let bearer: string | undefined
    let forwardedFor: string | undefined
    const gone = new AbortController()
    const answerRefusal = async (error: unknown): Promise<void> => {
      over()
      if (seen.caller && isRate(error) && !(await context.shares.mayRefuse(seen.caller, gone.signal))) {
        return call.sendStatus({ code: status.RESOURCE_EXHAUSTED, details: 'Too many calls are refused.' })
      }
      recordRefused(context, error, seen)
      const judged = context.failedTries.judge(error, { remote: hostOf(call.getPeer()), forwardedFor }, bearer)
      call.sendStatus(meter.refusal(judged))
    }
    // A refusal that cannot be told is this call's failure, and nobody else's.
    const refuse = (error: unknown): void => {
      answerRefusal(error).catch((cause: unknown) =>
        log.error({ err: cause, path: method.path }, 'grpc.refusal_failed'),
      )
    }
    let known: (Omit<Admission, 'agent'> & { metadata: Metadata }) | undefined
    let isOver = false
    const over = (): void => {
      isOver = true
      known?.leave()
    }
    const responder: Responder = {
      sendStatus: (status, next) => {
        over()
        const sent = known && trailers.get(known.metadata)
        next(sayableStatus(sent ? { ...status, metadata: sent } : status))
      },
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, next) => {
            bearer = bearerKeyOf(text(metadata, 'authorization'))
            forwardedFor = text(metadata, 'x-forwarded-for')
            seen.address = context.clientAddress(hostOf(call.getPeer()), forwardedFor)
            admitMetadata(context, seen, metadata, bearer)
              .then((admitted) => {
                known = { metadata, address: seen.address, front: 'grpc', ...admitted }
                if (isOver) return admitted.leave()
                proved(call.getPeer())
                metered.count(admitted.caller.keyId)
                next(metadata)
              })
              .catch(refuse)
          },
          onReceiveMessage: (message: { tenant?: string } | RefusedMessage, next) => {
            if (!known) return
            context.shares.noteBytes(known.caller, bytesOf(message))
            if (message instanceof RefusedMessage) return refuse(message.problem)
            const { metadata, ...admitted } = known
            const tenant = message.tenant || text(metadata, tenantMetadata)
            findTenant(context, seen, admitted.caller, tenant)
              .then((welcomed) => {
                admissions.set(metadata, { ...admitted, ...welcomed })
                next(message)
              })
              .catch(refuse)
          },
          onReceiveHalfClose: (next) => next(),
          onCancel: () => {
            gone.abort('cancelled')
            over()
          },
        }),
    }
    const metered = new MeteredCall(call, responder, method, meter)
    return metered
  }
}

function isRate(error: unknown): boolean {
  return error instanceof Problem && error.code === 'rate-limited'
}

/** What has been found out about a call so far: if it is refused, the audit names it. */
interface Seen {
  readonly path: string
  address: string
  caller: Caller | undefined
  agent: Agent | undefined
}

async function admitMetadata(context: AgentFrontContext, seen: Seen, metadata: Metadata, bearer: string | undefined) {
  const { path } = seen
  const caller = await authenticate(context, bearer)
  context.saw(caller)
  seen.caller = caller
  context.unsent.requireRoom(caller.keyId)
  context.shares.spendRequest(caller)
  // The service says the version; the SDK takes it from the metadata.
  metadata.set('a2a-version', requireVersion(path, text(metadata, 'a2a-version')))
  const operation = grpcOperation(path)
  if (!operation) throw new Problem('not-found', { detail: `No A2A operation answers ${path}.` })
  authorise(operation, caller)
  const key = idempotencyKey(text(metadata, 'idempotency-key'))
  return { caller, operation, idempotencyKey: key, leave: await context.shares.enter(caller) }
}

function recordRefused({ audit }: AgentFrontContext, error: unknown, seen: Seen): void {
  const { code: outcome } = toProblem(error)
  const operation = grpcOperation(seen.path)?.name ?? anyCall
  if (isRefusal(outcome)) audit.refuse(callEntry({ ...seen, front: 'grpc', operation, outcome }))
}

/** The address of `127.0.0.1:4711` and of `::1:4711`, as grpc-js writes both. */
function hostOf(peer: string): string {
  return peer.slice(0, Math.max(0, peer.lastIndexOf(':')))
}

async function findTenant(
  context: AgentFrontContext,
  seen: Seen,
  caller: Caller,
  tenant = '',
): Promise<{ agent: Agent; caller: Caller }> {
  const agent = await findCalledAgent(context.db, parseTenant(tenant), async () => caller)
  seen.agent = agent
  return { agent, caller: await requireWelcome(context.db, caller, agent) }
}

/** Each version is a service of its own; one that is asked for beside it must agree, patch numbers aside (§3.6). */
function requireVersion(path: string, asked: string | undefined): string {
  const version = path.startsWith('/lf.a2a.v1.') ? '1.0' : '0.3'
  if (!asked || new RegExp(`^${version.replace('.', '\\.')}(\\.\\d+)?$`).test(asked)) return version
  throw new VersionNotSupportedError({
    message: `A2A-Version "${asked}" is not what ${path.split('/')[1]} speaks: ${version}. v1.0 is the service lf.a2a.v1.A2AService, v0.3 is a2a.v1.A2AService.`,
  })
}

function text(metadata: Metadata, name: string): string | undefined {
  return metadata.get(name)[0]?.toString()
}
