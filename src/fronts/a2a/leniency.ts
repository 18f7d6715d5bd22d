import type { RequestHandler } from 'express'
import { Problem } from '../../errors.ts'
import { cutText } from '../../lib/cut-text.ts'
import { isJsonObject } from '../../lib/json.ts'
import { decodeSegment } from '../decode-segment.ts'
import { fieldFlaw } from './field-flaw.ts'

/** ProtoJSON allows the spelling of the .proto file in query parameters; the SDK reads camelCase only. */
const camelNames: ReadonlyMap<string, string> = new Map([
  ['context_id', 'contextId'],
  ['page_size', 'pageSize'],
  ['page_token', 'pageToken'],
  ['history_length', 'historyLength'],
  ['status_timestamp_after', 'statusTimestampAfter'],
  ['include_artifacts', 'includeArtifacts'],
])

/**
 * Rewrites requests that the specification allows and the SDK's routers do not accept: the version as a parameter or with a
 * patch number (specification §3.6), doubled slashes, snake_case names.
 */
export const normaliseRequest: RequestHandler = (req, _res, next) => {
  const [path = '/', search = ''] = splitUrl(req.url)
  const plainPath = path.replace(/\/{2,}/g, '/')
  const query = search === '' ? undefined : new URLSearchParams(search)
  const inQuery = query?.get('A2A-Version') || query?.get('a2a-version')
  const version = req.get('a2a-version') || inQuery || impliedBy(plainPath)
  if (version) req.headers['a2a-version'] = majorAndMinor(version)
  req.url = plainPath
  if (!query) return next()
  // A2A has no repeated parameters. If one repeats, the last value counts, as in ProtoJSON.
  const renamed = new URLSearchParams()
  for (const [name, value] of query) renamed.set(camelNames.get(name) ?? name, value)
  const text = renamed.toString()
  if (text) req.url += `?${text}`
  next()
}

/** `1.0` for `1.0.3`, and for `1`, as with a card. */
function majorAndMinor(version: string): string {
  const [, major, minor = '0'] = /^(\d+)(?:\.(\d+)(?:\.\d+)?)?$/.exec(version) ?? []
  return major === undefined ? version : `${major}.${minor}`
}

/**
 * Refuses an HTTP+JSON path of one version in a call of another: v0.3 has its paths below /v1, v1.0 has none there. It would be
 * answered in the version that the client did not ask for (specification §3.6.2).
 */
export const checkVersionOfPath: RequestHandler = (req, _res, next) => {
  if (req.path === '/') return next()
  const version = req.get('a2a-version') || '0.3'
  const isLegacyPath = /^\/v1\//.test(req.path)
  if (version === (isLegacyPath ? '0.3' : '1.0')) return next()
  const hint = isLegacyPath ? 'v1.0 has no operations below /v1: leave that out' : 'v0.3 has its operations below /v1'
  const detail = `A2A-Version "${cutText(version, 100)}" is not supported at ${cutText(req.path, 200)}: ${hint}, or send another A2A-Version; 1.0 and 0.3 are supported.`
  next(new Problem('invalid-request', { field: 'A2A-Version', detail }))
}

/** No version means v0.3 (specification §3.6.2). But v0.3 has its REST operations below /v1 only, so any other path is v1.0. */
function impliedBy(path: string): string | undefined {
  return path === '/' || /^\/(v1|\.well-known)\//.test(path) ? undefined : '1.0'
}

function splitUrl(url: string): [string, string] {
  const at = url.indexOf('?')
  return at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)]
}

/**
 * Over v0.3's REST binding a new push config names its task in the path only; the SDK reads it from the body. A body with a field of another kind is
 * left as it is: `checkParts` refuses it.
 */
export const completePushConfig: RequestHandler = (req, _res, next) => {
  const [, taskId] = /^\/v1\/tasks\/([^/]+)\/pushNotificationConfigs\/?$/.exec(req.path) ?? []
  if (taskId && req.method === 'POST' && isJsonObject(req.body) && !fieldFlaw(req.body)) {
    const parent = `tasks/${decodeSegment(taskId)}`
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
