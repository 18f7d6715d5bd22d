import { isLegacyJsonRpcMethod, isV1JsonRpcMethod } from '@a2a-js/sdk/compat/v0_3'
import type { RequestHandler } from 'express'
import { isJsonObject } from '../../lib/json.ts'
import { sendRpcError } from './answer.ts'

/** ProtoJSON lets a client spell query parameters as in the .proto file; the SDK reads camelCase alone. */
const camelNames: Record<string, string> = {
  context_id: 'contextId',
  page_size: 'pageSize',
  page_token: 'pageToken',
  history_length: 'historyLength',
  status_timestamp_after: 'statusTimestampAfter',
  include_artifacts: 'includeArtifacts',
}

/**
 * Makes a request what the SDK's routers expect, where the specification allows more than they take: the version as a
 * parameter or with a patch number (§3.6), doubled slashes, snake_case names.
 */
export const normaliseRequest: RequestHandler = (req, _res, next) => {
  const [path = '/', search = ''] = splitUrl(req.url)
  const query = new URLSearchParams(search)
  const version = req.get('a2a-version') || query.get('A2A-Version') || query.get('a2a-version')
  if (version)
    req.headers['a2a-version'] = /^\d+\.\d+\.\d+$/.test(version) ? version.split('.').slice(0, 2).join('.') : version
  const renamed = new URLSearchParams()
  for (const [name, value] of query) renamed.append(camelNames[name] ?? name, value)
  const text = renamed.toString()
  req.url = path.replace(/\/{2,}/g, '/') + (text ? `?${text}` : '')
  next()
}

function splitUrl(url: string): [string, string] {
  const at = url.indexOf('?')
  return at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)]
}

/** A push config made over v0.3's REST binding names its task in the path only; the SDK looks for it in the body. */
export const completePushConfig: RequestHandler = (req, _res, next) => {
  const taskId = /^\/v1\/tasks\/([^/]+)\/pushNotificationConfigs\/?$/.exec(req.path)?.[1]
  if (taskId && req.method === 'POST' && isJsonObject(req.body)) {
    const parent = `tasks/${decodeURIComponent(taskId)}`
    const { config, configId, config_id: snakeId, ...rest } = req.body
    const inner = isJsonObject(config) ? config : { pushNotificationConfig: rest.pushNotificationConfig ?? rest }
    const id =
      configId ??
      snakeId ??
      (isJsonObject(inner.pushNotificationConfig) ? inner.pushNotificationConfig.id : undefined) ??
      ''
    req.body = { ...inner, name: inner.name ?? `${parent}/pushNotificationConfigs/${id}` }
  }
  next()
}

/** Answers what is no JSON-RPC request with the codes that the specification keeps for that (§9.5), and says what to do. */
export const checkEnvelope: RequestHandler = (req, res, next) => {
  if (req.path !== '/' || req.method !== 'POST') return next()
  const { body } = req
  if (Array.isArray(body))
    return sendRpcError(
      res,
      null,
      -32600,
      'Request payload validation error: batches are not supported. Send one request object.',
    )
  if (!isJsonObject(body))
    return sendRpcError(
      res,
      null,
      -32600,
      'Request payload validation error: the body must be a JSON-RPC 2.0 request object.',
    )
  const { id = null, jsonrpc, method } = body
  if (id !== null && typeof id !== 'string' && typeof id !== 'number') {
    return sendRpcError(res, null, -32600, 'Request payload validation error: id must be a string, a number or null.')
  }
  if (jsonrpc !== '2.0')
    return sendRpcError(res, id, -32600, 'Request payload validation error: jsonrpc must be "2.0".')
  if (typeof method !== 'string' || !method)
    return sendRpcError(res, id, -32600, 'Request payload validation error: method is required.')
  const legacy = (req.get('a2a-version') || '0.3') === '0.3'
  if (legacy ? isLegacyJsonRpcMethod(method) : isV1JsonRpcMethod(method)) return next()
  return sendRpcError(res, id, -32601, `Method not found: ${method}. ${methodHint(method, legacy)}`)
}

function methodHint(method: string, legacy: boolean): string {
  if (legacy && isV1JsonRpcMethod(method)) return 'It is of v1.0: send the header "A2A-Version: 1.0".'
  if (!legacy && isLegacyJsonRpcMethod(method)) return 'It is of v0.3: send the header "A2A-Version: 0.3".'
  return legacy
    ? 'v0.3 has message/send, tasks/get and others.'
    : 'v1.0 has SendMessage, GetTask and others (specification §5.3).'
}
