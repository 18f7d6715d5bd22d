import { isLegacyJsonRpcMethod, isV1JsonRpcMethod } from '@a2a-js/sdk/compat/v0_3'
import type { Request, RequestHandler } from 'express'
import { cutText } from '../../lib/cut-text.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import { inputLimits } from '../../limits.ts'
import { sendRpcError } from './answer.ts'
import { legacyParamsFlaw } from './legacy-params.ts'
import { noValue, oddField, partsFlaw } from './message-parts.ts'
import { rpcId } from './rpc-id.ts'

const versions = ['1.0', '0.3']
/** The operations that take no parameters. */
const bare = ['GetExtendedAgentCard', 'agent/getAuthenticatedExtendedCard']

/** Answers what is no JSON-RPC request with the codes that the specification keeps for that (§9.5), and says what to do. */
export const checkEnvelope: RequestHandler = (req, res, next) => {
  if (req.path !== '/' || req.method !== 'POST') return next()
  const flaw = flawOf(req)
  if (!flaw) return next()
  sendRpcError(res, rpcId(req), ...flaw)
}

type Flaw = readonly [code: number, message: string, reason: string]

function flawOf(req: Request): Flaw | undefined {
  const { body } = req
  const contentType = req.get('content-type')
  if (body === undefined && contentType) {
    return [
      -32005,
      `Content-Type ${contentType} is not supported. Send application/json.`,
      'CONTENT_TYPE_NOT_SUPPORTED',
    ]
  }
  if (Array.isArray(body)) return invalid('batches are not supported. Send one request object.')
  if (!isJsonObject(body)) return invalid('the body must be a JSON-RPC 2.0 request object.')
  const { id = null, jsonrpc, method } = body
  if (id !== null && rpcId(req) === null) {
    return invalid(`id must be a string of at most ${inputLimits.jsonRpcId.max} characters, an integer or null.`)
  }
  if (jsonrpc !== '2.0') return invalid('jsonrpc must be "2.0".')
  if (typeof method !== 'string' || !method) return invalid('method is required.')
  const version = req.get('a2a-version') || '0.3'
  if (!versions.includes(version)) {
    return [
      -32009,
      `A2A-Version "${version}" is not supported; ${versions.join(' and ')} are.`,
      'VERSION_NOT_SUPPORTED',
    ]
  }
  const legacy = version === '0.3'
  // The SDK looks methods up in an object, which also has what every object has.
  const isNamed = !(method in Object.prototype)
  if (!isNamed || !(legacy ? isLegacyJsonRpcMethod(method) : isV1JsonRpcMethod(method))) {
    return [-32601, `Method not found: ${cutText(method, 100)}. ${methodHint(method, legacy)}`, 'METHOD_NOT_FOUND']
  }
  return paramsFlawOf(method, body)
}

function paramsFlawOf(method: string, { params }: JsonObject): Flaw | undefined {
  const isBare = bare.includes(method)
  if (isBare && !isJsonObject(params)) return undefined
  if (!isJsonObject(params)) return [-32602, `params is required: an object, as ${method} takes it.`, 'INVALID_PARAMS']
  const odd = oddField(params)
  const flaw = odd === undefined ? (legacyParamsFlaw(method, params) ?? partsFlaw(params)) : `${odd}: ${noValue}`
  return flaw === undefined ? undefined : [-32602, `params.${flaw}`, 'INVALID_PARAMS']
}

function invalid(reason: string): Flaw {
  return [-32600, `Request payload validation error: ${reason}`, 'INVALID_REQUEST']
}

function methodHint(method: string, legacy: boolean): string {
  if (legacy && isV1JsonRpcMethod(method)) return 'It is of v1.0: send the header "A2A-Version: 1.0".'
  if (!legacy && isLegacyJsonRpcMethod(method)) return 'It is of v0.3: send the header "A2A-Version: 0.3".'
  return legacy
    ? 'v0.3 has message/send, tasks/get and others.'
    : 'v1.0 has SendMessage, GetTask and others (specification §5.3).'
}
