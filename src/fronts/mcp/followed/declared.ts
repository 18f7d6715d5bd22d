import {
  CLIENT_CAPABILITIES_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { isJsonObject } from '../../../lib/json.ts'

/** The extension of MCP tasks. */
export const tasksExtension = 'io.modelcontextprotocol/tasks'

/**
 * True when this very request says that its client follows tasks: to any other one a task is a broken answer, whatever its program or its
 * connection has said before. Pure. Source: SEP-2663.
 * @param meta the part of a request's `_meta` that belongs to the protocol
 */
function declaresTasks(meta: unknown): boolean {
  if (!isJsonObject(meta) || typeof meta[PROTOCOL_VERSION_META_KEY] !== 'string') return false
  const capabilities = meta[CLIENT_CAPABILITIES_META_KEY]
  const extensions = isJsonObject(capabilities) ? capabilities.extensions : undefined
  return isJsonObject(extensions) && isJsonObject(extensions[tasksExtension])
}

/** The same of a message as it came. Pure. */
export function messageDeclaresTasks(message: unknown): boolean {
  return isJsonObject(message) && isJsonObject(message.params) && declaresTasks(message.params._meta)
}

/** The same of a request that a handler answers. Pure. */
export const requestDeclaresTasks = ({ mcpReq }: ServerContext): boolean => declaresTasks(mcpReq.envelope)
