import type { RequestHandler } from 'express'
import { Problem } from '../../errors.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import type { Agent } from '../../registry/agents/agent.ts'
import { contentsOf, isBase64, nullData } from '../../tasks/part.ts'
import { type FieldFlaw, fieldFlaw } from './field-flaw.ts'
import { tenantFlaw } from './tenant-flaw.ts'

/** Refuses an HTTP+JSON request for another agent, a body that is not an object, or in which `sendFlaw` or `fieldFlaw` finds a flaw. */
export const checkParts: RequestHandler = (req, res, next) => {
  const wrongTenant =
    req.path === '/' ? undefined : tenantFlaw(res.locals.agent as Agent, { ...req.query, ...tenantOf(req.body) })
  if (wrongTenant !== undefined) return next(new Problem('invalid-request', { field: 'tenant', detail: wrongTenant }))
  if (req.path !== '/' && req.body != null && !isJsonObject(req.body)) {
    next(new Problem('invalid-request', { detail: 'The body must be a JSON object: the parameters of the operation.' }))
    return
  }
  if (req.path === '/' || !isJsonObject(req.body)) return next()
  const sends = req.method === 'POST' && /\/message:(send|stream)\/?$/.test(req.path)
  const flaw = sends ? sendFlaw(req.body) : fieldFlaw(req.body)
  next(flaw && new Problem('invalid-request', flaw))
}

const tenantOf = (body: unknown): object =>
  isJsonObject(body) && body.tenant !== undefined ? { tenant: body.tenant } : {}

/** The flaw in the parameters of a send, and its field. Undefined: nothing that its reader would refuse, or change silently. */
export function sendFlaw(body: JsonObject): FieldFlaw | undefined {
  const detail = partsFlaw(body)
  return detail === undefined ? fieldFlaw(body) : { field: 'message.parts', detail }
}

/**
 * Describes what ProtoJSON's reader would refuse, or change silently: bytes that are not base64, several contents in one
 * part, metadata that is no object. Undefined: nothing.
 */
function partsFlaw({ message, request, metadata }: JsonObject): string | undefined {
  if (metadata != null && !isJsonObject(metadata)) return 'metadata must be an object.'
  return messageFlaw(message, 'message') ?? messageFlaw(request, 'request')
}

function messageFlaw(sent: unknown, name: string): string | undefined {
  if (!isJsonObject(sent)) return undefined
  if (sent.metadata != null && !isJsonObject(sent.metadata)) return `${name}.metadata must be an object.`
  return listFlaw(sent.parts, `${name}.parts`) ?? listFlaw(sent.content, `${name}.content`)
}

function listFlaw(parts: unknown, name: string): string | undefined {
  if (!Array.isArray(parts)) return undefined
  for (let index = 0; index < parts.length; index++) {
    const flaw = partFlaw(parts[index])
    if (flaw !== undefined) return `${name}[${index}]${flaw}`
  }
  return undefined
}

function partFlaw(part: unknown): string | undefined {
  if (part === null) return ' needs one of text, raw, url or data.'
  if (!isJsonObject(part)) return undefined
  if (bytesOf(part).some((bytes) => bytes != null && (typeof bytes !== 'string' || !isBase64(bytes))))
    return ' has bytes that are no text in base64.'
  if (part.kind === undefined && part.data === null) return `.data ${nullData}`
  if (contentsOf(part).length > 1)
    return ` has more than one of ${contentsOf(part).join(', ')}. Send one part for each.`
  if (part.metadata != null && !isJsonObject(part.metadata)) return '.metadata must be an object.'
  return undefined
}

/** In v1.0 a part holds its bytes itself; in v0.3 and its protobuf its file does. */
function bytesOf({ raw, file }: JsonObject): unknown[] {
  return isJsonObject(file) ? [raw, file.fileWithBytes, file.file_with_bytes, file.bytes] : [raw]
}
