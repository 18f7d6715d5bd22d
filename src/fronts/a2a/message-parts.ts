import type { RequestHandler } from 'express'
import { Problem } from '../../errors.ts'
import { cutText } from '../../lib/cut-text.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'

/** Refuses over HTTP+JSON a body that is no object, and what `oddField` and `partsFlaw` find. */
export const checkParts: RequestHandler = (req, _res, next) => {
  if (req.path !== '/' && req.body != null && !isJsonObject(req.body)) {
    next(new Problem('invalid-request', { detail: 'The body is a JSON object, as the operation takes it.' }))
    return
  }
  if (req.path === '/' || !isJsonObject(req.body)) return next()
  const odd = oddField(req.body)
  if (odd !== undefined) return next(new Problem('invalid-request', { field: odd, detail: `${odd}: ${noValue}` }))
  const sends = req.method === 'POST' && /\/message:(send|stream)\/?$/.test(req.path)
  const flaw = sends ? partsFlaw(req.body) : undefined
  next(flaw && new Problem('invalid-request', { field: 'message.parts', detail: flaw }))
}

export const noValue = 'is an object with "toString", which no field of A2A is. Send the value itself.'

/** What a client keeps as it likes: nothing reads it as a text or a number. */
const free = new Set(['metadata', 'data'])

/**
 * The field in which an object stands that cannot be made a text: ProtoJSON's reader makes texts and numbers of whatever stands
 * in their place. Undefined: there is none. Without recursion.
 */
export function oddField(body: JsonObject): string | undefined {
  const open: JsonObject[] = [body]
  for (let value = open.pop(); value; value = open.pop()) {
    for (const key in value) {
      const inner = value[key]
      if (typeof inner !== 'object' || inner === null || free.has(key)) continue
      if (Object.hasOwn(inner, 'toString')) return cutText(key, 100)
      open.push(inner as JsonObject)
    }
  }
  return Object.hasOwn(body, 'toString') ? 'toString' : undefined
}

/** What ProtoJSON's reader would stumble over in a message's parts: null, and bytes that are no text. */
export function partsFlaw({ message }: JsonObject): string | undefined {
  const parts: unknown = isJsonObject(message) ? (message.parts ?? message.content) : undefined
  if (!Array.isArray(parts)) return undefined
  for (const [index, part] of parts.entries()) {
    if (part === null) return `message.parts[${index}] needs one of text, raw, url or data.`
    const bytes = isJsonObject(part) ? bytesOf(part) : undefined
    if (bytes != null && typeof bytes !== 'string')
      return `message.parts[${index}] has bytes that are no text in base64.`
  }
  return undefined
}

/** In v1.0 a part has its bytes itself; in v0.3's protobuf its file has them. */
function bytesOf({ raw, file }: JsonObject): unknown {
  return raw ?? (isJsonObject(file) ? (file.fileWithBytes ?? file.file_with_bytes) : undefined)
}
