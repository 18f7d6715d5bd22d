import { type JSONRPCMessage, parseJSONRPCMessage } from '@modelcontextprotocol/server'
import { Problem } from '../../errors.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import { liberalArguments } from './tools/liberal-arguments.ts'

/** Returns the message that a client means. Errors: `invalid-request` for what is no JSON-RPC. Pure. */
export function readMessage(given: unknown): JSONRPCMessage {
  const message = liberalMessage(given)
  try {
    return parseJSONRPCMessage(message)
  } catch (cause) {
    throw new Problem('invalid-request', {
      detail:
        'The body is not a JSON-RPC 2.0 message: {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}, whose id is a string or an integer.',
      cause,
    })
  }
}

/**
 * Returns a message as the protocol has it, from what clients send for it: null, "" or an empty list for no parameters and no arguments,
 * arguments as their JSON text, and an `initialize` that says nothing about its client. Everything else stays as it is. Pure.
 */
function liberalMessage(given: unknown): unknown {
  if (!isJsonObject(given) || typeof given.method !== 'string') return given
  const { params, ...message } = given
  if (isNothing(params) && message.method !== 'initialize') return message
  if (!isNothing(params) && !isJsonObject(params)) return given
  // MCP Events has words of its own for these: an unknown cursor, and arguments that are no object.
  const isStrict = /^events\/(?!list$)/.test(given.method)
  const said = saidIn(isJsonObject(params) ? params : {}, isStrict)
  return { ...message, params: message.method === 'initialize' ? introduced(said) : said }
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
}

/** The parameters that say something; of a time, null says that it has no end. What models make of `arguments` is for the tool. */
function saidIn(params: JsonObject, isStrict = false): JsonObject {
  const { arguments: args, ...others } = params
  const said = Object.entries(others).filter(
    ([name, value]) => (value !== null || name === 'ttlMs') && (isStrict || !(name === 'cursor' && value === '')),
  )
  return {
    ...Object.fromEntries(said),
    ...(isStrict && Array.isArray(args)
      ? { arguments: args }
      : isNothing(args)
        ? {}
        : { arguments: liberalArguments({ type: 'object' }, args) }),
  }
}

function introduced(params: JsonObject): JsonObject {
  const { capabilities, clientInfo } = params
  return {
    ...params,
    ...(isNothing(capabilities) ? { capabilities: {} } : {}),
    ...(isJsonObject(clientInfo) || isNothing(clientInfo)
      ? { clientInfo: { name: 'unknown', version: '0', ...(isJsonObject(clientInfo) ? saidIn(clientInfo) : {}) } }
      : {}),
  }
}
