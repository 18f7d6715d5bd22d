import type { RequestHandler } from 'express'
import { Problem } from '../../errors.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'

/** Refuses over HTTP+JSON what `partsFlaw` finds. */
export const checkParts: RequestHandler = (req, _res, next) => {
  const sends = req.method === 'POST' && /\/message:(send|stream)\/?$/.test(req.path)
  const flaw = sends && isJsonObject(req.body) ? partsFlaw(req.body) : undefined
  next(flaw && new Problem('invalid-request', { field: 'message.parts', detail: flaw }))
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
