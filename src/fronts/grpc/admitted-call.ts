import { VersionNotSupportedError } from '@a2a-js/sdk/errors'
import type { Metadata } from '@grpc/grpc-js'
import type { Slot } from '../../admission/slots.ts'
import { tenantMetadata } from '../../agent-card/card.ts'
import { Problem } from '../../errors.ts'
import { authenticate } from '../../identity/authenticate.ts'
import { Attachment } from '../../lib/attachment.ts'
import { cutText } from '../../lib/cut-text.ts'
import type { Agent } from '../../registry/agents/agent.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import { defaultProject } from '../../registry/projects/project-store.ts'
import { type AgentAddress, findCalledAgent, requireMayCall } from '../a2a/called-agent.ts'
import { type A2aOperation, grpcOperation } from '../access/a2a-operations.ts'
import { authorise } from '../access/authorise.ts'
import { decodeSegment } from '../decode-segment.ts'
import type { FrontContext } from '../front-context.ts'
import { idempotencyKey } from '../idempotency-key.ts'

const pattern = /^\/?(?:projects\/([^/]+)\/)?agents\/([^/]+)\/?$/

/** The facts of a call that is admitted, known before the SDK reads it. */
export interface AdmittedCall {
  readonly caller: Caller
  readonly agent: Agent
  readonly operation: A2aOperation
  readonly front: 'grpc'
  readonly address: string
  readonly idempotencyKey: string | undefined
  readonly traceparent: string | undefined
  readonly slot: Slot
}

/** A call on its way through the checks, with what they have found out. The audit names it if the call is refused. */
export interface IncomingCall {
  readonly path: string
  address: string
  caller: Caller | undefined
  agent: Agent | undefined
}

// The SDK passes nothing from an interceptor to an operation but the metadata object of the call, so facts are kept by it.
const trailers = new Attachment<Metadata, Metadata>('trailers')
const admitted = new Attachment<Metadata, AdmittedCall>('admitted')

/** Sets the trailers of the call that came with this metadata. They are sent with its status. */
export function setTrailers(metadata: Metadata, sent: Metadata): void {
  trailers.set(metadata, sent)
}

export function trailersFor(metadata: Metadata): Metadata | undefined {
  return trailers.get(metadata)
}

export function setAdmitted(metadata: Metadata, call: AdmittedCall): void {
  admitted.set(metadata, call)
}

/** The facts of the call that came with this metadata. */
export function admittedCall(metadata: Metadata): AdmittedCall {
  const call = admitted.get(metadata)
  if (!call) throw new Error('A gRPC call reached the SDK without being admitted.')
  return call
}

/**
 * Authenticates and authorises a call by its metadata, and gives it a slot. Errors: `unauthenticated`, `forbidden`, `not-found`,
 * `rate-limited`, `limit-exceeded`, VersionNotSupportedError.
 */
export async function admitCaller(
  context: FrontContext,
  incoming: IncomingCall,
  metadata: Metadata,
  bearer: string | undefined,
): Promise<Pick<AdmittedCall, 'caller' | 'operation' | 'idempotencyKey' | 'traceparent' | 'slot'>> {
  const { path } = incoming
  const caller = await authenticate(context, bearer)
  context.saw(caller, true)
  incoming.caller = caller
  // The service determines the version; the SDK reads it from the metadata.
  metadata.set('a2a-version', requireVersion(path, metadataText(metadata, 'a2a-version')))
  const operation = grpcOperation(path)
  if (!operation) throw new Problem('not-found', { detail: `There is no A2A operation ${path}.` })
  const key = idempotencyKey(metadataText(metadata, 'idempotency-key'))
  const slot = await context.admission.admit(caller)
  try {
    authorise(operation, caller)
  } catch (error) {
    slot.release()
    throw error
  }
  return { caller, operation, idempotencyKey: key, traceparent: metadataText(metadata, 'traceparent'), slot }
}

/** The agent that a tenant names, and the caller as it acts there. Errors: `invalid-request`, `agent-not-found`, `forbidden`. */
export async function findCalled(
  { db }: Pick<FrontContext, 'db'>,
  incoming: IncomingCall,
  caller: Caller,
  tenant = '',
): Promise<Pick<AdmittedCall, 'agent' | 'caller'>> {
  const agent = await findCalledAgent(db, parseTenant(tenant), async () => caller)
  incoming.agent = agent
  return { agent, caller: await requireMayCall(db, caller, agent) }
}

/** The first value of a metadata key. */
export function metadataText(metadata: Metadata, name: string): string | undefined {
  return metadata.get(name)[0]?.toString()
}

/** Each version is a service of its own. A version in the metadata must agree with it, patch numbers aside (specification §3.6). */
function requireVersion(path: string, requested: string | undefined): string {
  const version = path.startsWith('/lf.a2a.v1.') ? '1.0' : '0.3'
  if (!requested || new RegExp(`^${version.replace('.', '\\.')}(\\.\\d+)?$`).test(requested)) return version
  throw new VersionNotSupportedError({
    message: `A2A-Version "${requested}" is not what ${path.split('/')[1]} speaks: ${version}. v1.0 is the service lf.a2a.v1.A2AService, v0.3 is a2a.v1.A2AService.`,
  })
}

/**
 * Parses a tenant: `agents/donna`, or `projects/blue/agents/donna` in another project. Errors: `invalid-request` for an empty
 * tenant, `agent-not-found` for one of another form.
 */
export function parseTenant(tenant: string): AgentAddress {
  if (!tenant) {
    throw new Problem('invalid-request', {
      field: 'tenant',
      detail: `tenant is required: send the tenant from the agent's card, e.g. agents/donna. A v0.3 client sends it as metadata "${tenantMetadata}".`,
    })
  }
  const [, project = defaultProject, handle] = pattern.exec(tenant) ?? []
  if (handle) return { project: decodeSegment(project), handle: decodeSegment(handle) }
  throw new Problem('agent-not-found', {
    field: 'tenant',
    detail: `No agent has the tenant "${cutText(tenant, 200)}". A tenant is agents/{handle} or projects/{project}/agents/{handle}.`,
  })
}
