import type { RequestHandler } from 'express'
import { isJsonObject } from '../../lib/json.ts'
import { decodeSegment } from '../decode-segment.ts'

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
 * patch number (§3.6), doubled slashes, snake_case names.
 */
export const normaliseRequest: RequestHandler = (req, _res, next) => {
  const [path = '/', search = ''] = splitUrl(req.url)
  const query = new URLSearchParams(search)
  const plainPath = path.replace(/\/{2,}/g, '/')
  const version = req.get('a2a-version') || query.get('A2A-Version') || query.get('a2a-version') || impliedBy(plainPath)
  if (version)
    req.headers['a2a-version'] = /^\d+\.\d+\.\d+$/.test(version) ? version.split('.').slice(0, 2).join('.') : version
  // A2A has no repeated parameters. If one repeats, the last value counts, as in ProtoJSON.
  const renamed = new URLSearchParams()
  for (const [name, value] of query) renamed.set(camelNames.get(name) ?? name, value)
  const text = renamed.toString()
  req.url = plainPath + (text ? `?${text}` : '')
  next()
}

/** No version means v0.3 (§3.6.2). But v0.3 has its REST operations below /v1 only, so any other path is v1.0. */
function impliedBy(path: string): string | undefined {
  return path === '/' || /^\/(v1|\.well-known)\//.test(path) ? undefined : '1.0'
}

function splitUrl(url: string): [string, string] {
  const at = url.indexOf('?')
  return at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)]
}

/** Over v0.3's REST binding a new push config names its task in the path only; the SDK reads it from the body. */
export const completePushConfig: RequestHandler = (req, _res, next) => {
  const [, taskId] = /^\/v1\/tasks\/([^/]+)\/pushNotificationConfigs\/?$/.exec(req.path) ?? []
  if (taskId && req.method === 'POST' && isJsonObject(req.body)) {
    const parent = `tasks/${decodeSegment(taskId)}`
    const { config, configId, config_id: snakeId, ...rest } = req.body
    const inner = isJsonObject(config) ? config : { pushNotificationConfig: rest.pushNotificationConfig ?? rest }
    const id =
      configId ??
      snakeId ??
      (isJsonObject(inner.pushNotificationConfig) ? inner.pushNotificationConfig.id : undefined) ??
      ''
    const name = typeof id === 'object' ? '' : id
    req.body = { ...inner, name: inner.name ?? `${parent}/pushNotificationConfigs/${name}` }
  }
  next()
}
