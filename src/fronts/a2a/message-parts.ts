import type { RequestHandler } from 'express'
import { Problem } from '../../errors.ts'
import { cutText } from '../../lib/cut-text.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'

/** Refuses an HTTP+JSON body that is not an object, or in which `unreadableField` or `partsFlaw` finds a flaw. */
export const checkParts: RequestHandler = (req, _res, next) => {
  if (req.path !== '/' && req.body != null && !isJsonObject(req.body)) {
    next(new Problem('invalid-request', { detail: 'The body must be a JSON object: the parameters of the operation.' }))
    return
  }
  if (req.path === '/' || !isJsonObject(req.body)) return next()
  const field = unreadableField(req.body)
  if (field !== undefined) {
    return next(new Problem('invalid-request', { field, detail: `${field}: ${unreadableHint}` }))
  }
  const sends = req.method === 'POST' && /\/message:(send|stream)\/?$/.test(req.path)
  const flaw = sends ? partsFlaw(req.body) : undefined
  next(flaw && new Problem('invalid-request', { field: 'message.parts', detail: flaw }))
}

export const unreadableHint = 'is an object with "toString"; no field of A2A has that. Send the value itself.'

/** Fields with the client's own content: nothing converts their values to a string or a number. */
const free = new Set(['metadata', 'data'])

/**
 * Finds a field whose value is an object with a `toString` of its own. ProtoJSON's reader converts such a value to a string or a
 * number, and the conversion would throw. Undefined: there is none. Without recursion.
 */
export function unreadableField(body: JsonObject): string | undefined {
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

/** Describes the first part of a message at which ProtoJSON's reader would throw: null, or bytes that are not a string. */
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

/** In v1.0 a part holds its bytes itself; in v0.3's protobuf its file does. */
function bytesOf({ raw, file }: JsonObject): unknown {
  return raw ?? (isJsonObject(file) ? (file.fileWithBytes ?? file.file_with_bytes) : undefined)
}
