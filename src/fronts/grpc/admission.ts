import { VersionNotSupportedError } from '@a2a-js/sdk/errors'
import { type Metadata, ServerInterceptingCall, type ServerInterceptor } from '@grpc/grpc-js'
import { tenantMetadata } from '../../agent-card/card.ts'
import type { Agent } from '../../registry/agent.ts'
import { authenticate, type Caller } from '../../registry/caller.ts'
import type { AgentFrontContext } from '../a2a/agent-routes.ts'
import { findCalledAgent, requireWelcome } from '../a2a/called-agent.ts'
import { idempotencyKey } from '../a2a/idempotency-key.ts'
import { bearerKeyOf } from '../auth.ts'
import { refusal } from './failure.ts'
import { parseTenant } from './tenant.ts'

/** What is known of a call before the SDK sees it. */
export interface Admission {
  readonly caller: Caller
  readonly agent: Agent
  readonly idempotencyKey: string | undefined
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
export function admitCalls(context: AgentFrontContext): ServerInterceptor {
  return ({ path }, call) => {
    const refuse = (error: unknown): void => call.sendStatus(refusal(error, context.log))
    let known: { metadata: Metadata; caller: Caller; idempotencyKey: string | undefined } | undefined
    return new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, next) => {
            admitMetadata(context, path, metadata).then((admitted) => {
              known = { metadata, ...admitted }
              next(metadata)
            }, refuse)
          },
          onReceiveMessage: (message: { tenant?: string }, next) => {
            if (!known) return
            const { metadata, ...admitted } = known
            findTenant(context, admitted.caller, message.tenant || text(metadata, tenantMetadata)).then((welcomed) => {
              admissions.set(metadata, { ...admitted, ...welcomed })
              next(message)
            }, refuse)
          },
          onReceiveHalfClose: (next) => next(),
          onCancel: () => {},
        }),
    })
  }
}

async function admitMetadata(context: AgentFrontContext, path: string, metadata: Metadata) {
  const caller = await authenticate(context.db, context.adminKey, bearerKeyOf(text(metadata, 'authorization')))
  context.saw(caller)
  // The service says the version; the SDK takes it from the metadata.
  metadata.set('a2a-version', requireVersion(path, text(metadata, 'a2a-version')))
  return { caller, idempotencyKey: idempotencyKey(text(metadata, 'idempotency-key')) }
}

async function findTenant(
  context: AgentFrontContext,
  caller: Caller,
  tenant = '',
): Promise<{ agent: Agent; caller: Caller }> {
  const agent = await findCalledAgent(context.db, parseTenant(tenant), async () => caller)
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
