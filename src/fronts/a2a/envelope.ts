import { isLegacyJsonRpcMethod, isV1JsonRpcMethod } from '@a2a-js/sdk/compat/v0_3'
import type { Request, RequestHandler } from 'express'
import { z } from 'zod'
import { Problem } from '../../errors.ts'
import { cutText } from '../../lib/cut-text.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import { sizeLimits } from '../../limits.ts'
import type { Agent } from '../../registry/agents/agent.ts'
import { parse } from '../validate.ts'
import { type RpcError, rpcId, sendRpcError } from './answer.ts'
import { dropNulls } from './field-flaw.ts'
import { sendFlaw } from './message-parts.ts'
import { tenantFlaw } from './tenant-flaw.ts'

/**
 * The shapes that the SDK's v0.3 translator assumes without a check. They replace its exceptions by an error that names the field.
 * Values that the translator reads leniently, such as a number for an id, pass here too. Fields that were null are gone.
 */
const metadata = z.record(z.string(), z.unknown()).optional()

const list = z.array(z.unknown()).optional()

const text = z.string().optional()

const file = z.looseObject({ bytes: text, uri: text, name: text, mimeType: text })

const part = z.discriminatedUnion(
  'kind',
  [
    z.looseObject({ kind: z.literal('text'), text: z.string(), metadata }),
    z.looseObject({ kind: z.literal('file'), file, metadata }),
    z.looseObject({ kind: z.literal('data'), metadata }),
  ],
  { error: 'must be "text", "file" or "data"' },
)

const message = z.looseObject({ parts: z.array(part), extensions: list, referenceTaskIds: list, metadata })

const pushConfig = z.looseObject({
  authentication: z.looseObject({ schemes: z.array(z.string()).optional(), credentials: text }).optional(),
})

const configuration = z.looseObject({ acceptedOutputModes: list, pushNotificationConfig: pushConfig.optional() })

const sending = z.looseObject({ message, configuration: configuration.optional(), metadata })

const schemas: Record<string, z.ZodType> = {
  'message/send': sending,
  'message/stream': sending,
  'tasks/cancel': z.looseObject({ metadata }),
  'tasks/pushNotificationConfig/set': z.looseObject({ pushNotificationConfig: pushConfig }),
}

const versions = ['1.0', '0.3']
/** The operations that take no parameters. */
const bare = ['GetExtendedAgentCard', 'agent/getAuthenticatedExtendedCard']

/** Answers a request that is not valid JSON-RPC with the specification's error codes (§9.5), and says what to change. */
export const checkEnvelope: RequestHandler = (req, res, next) => {
  if (req.path !== '/' || req.method !== 'POST') return next()
  const flaw = flawOf(req, res.locals.agent as Agent)
  if (!flaw) {
    // All of its fields are optional, and the SDK reads an object.
    if (req.body.method === 'ListTasks') req.body.params ??= {}
    return next()
  }
  sendRpcError(res, rpcId(req), flaw)
}

function flawOf(req: Request, agent: Agent): RpcError | undefined {
  const { body } = req
  const contentType = req.get('content-type')
  if (body === undefined && contentType) {
    const message = `Content-Type ${contentType} is not supported. Send application/json.`
    return { code: -32005, message, reason: 'CONTENT_TYPE_NOT_SUPPORTED' }
  }
  if (Array.isArray(body)) return invalid('batches are not supported. Send one request object.')
  if (!isJsonObject(body)) return invalid('the body must be a JSON-RPC 2.0 request object.')
  const { id, jsonrpc, method } = body
  if (id != null && rpcId(req) === null) {
    return invalid(`id must be a string of at most ${sizeLimits.id.max} characters, an integer or null.`)
  }
  if (jsonrpc !== '2.0') return invalid('jsonrpc must be "2.0".')
  if (typeof method !== 'string' || !method) return invalid('method is required.')
  const version = req.get('a2a-version') || '0.3'
  if (!versions.includes(version)) {
    const message = `A2A-Version "${version}" is not supported; ${versions.join(' and ')} are.`
    return { code: -32009, message, reason: 'VERSION_NOT_SUPPORTED' }
  }
  const legacy = version === '0.3'
  return methodFlaw(method, legacy) ?? paramsFlaw(method, body, legacy ? undefined : agent) ?? idFlaw(id)
}

/** A request without an id is a notification: its caller would never learn the result. */
function idFlaw(id: unknown): RpcError | undefined {
  return id === undefined ? invalid('id is required: a string or a number that the answer repeats.') : undefined
}

function methodFlaw(method: string, legacy: boolean): RpcError | undefined {
  // The SDK looks methods up in an object literal, which also has the properties of Object.prototype.
  const isOwn = !(method in Object.prototype)
  if (isOwn && (legacy ? isLegacyJsonRpcMethod(method) : isV1JsonRpcMethod(method))) return undefined
  const message = `Method not found: ${cutText(method, 100)}. ${methodHint(method, legacy)}`
  return { code: -32601, message, reason: 'METHOD_NOT_FOUND' }
}

function paramsFlaw(method: string, { params }: JsonObject, agent: Agent | undefined): RpcError | undefined {
  const invalidParams = (message: string): RpcError => ({ code: -32602, message, reason: 'INVALID_PARAMS' })
  if (method === 'ListTasks' && params == null) return undefined
  const isBare = bare.includes(method)
  if (isBare && !isJsonObject(params)) return undefined
  if (!isJsonObject(params)) return invalidParams(`params is required: an object with the parameters of ${method}.`)
  dropNulls(params)
  const flaw = legacyParamsFlaw(method, params) ?? sendFlaw(params)?.detail
  if (flaw !== undefined) return invalidParams(`params.${flaw}`)
  const wrongTenant = agent && tenantFlaw(agent, params)
  return wrongTenant === undefined ? undefined : invalidParams(`params.${wrongTenant}`)
}

function invalid(reason: string): RpcError {
  return { code: -32600, message: `Request payload validation error: ${reason}`, reason: 'INVALID_REQUEST' }
}

function methodHint(method: string, legacy: boolean): string {
  if (legacy && isV1JsonRpcMethod(method)) return 'It is a v1.0 method: send the header "A2A-Version: 1.0".'
  if (!legacy && isLegacyJsonRpcMethod(method)) return 'It is a v0.3 method: send the header "A2A-Version: 0.3".'
  return legacy
    ? 'v0.3 has message/send, tasks/get and others.'
    : 'v1.0 has SendMessage, GetTask and others (specification §5.3).'
}

/** Names the field of a v0.3 call's parameters that cannot be read, and says why. Undefined: all can be read. */
function legacyParamsFlaw(method: string, params: JsonObject): string | undefined {
  try {
    if (Object.hasOwn(schemas, method)) parse(schemas[method]!, params)
    return undefined
  } catch (error) {
    if (error instanceof Problem) return error.message
    throw error
  }
}
