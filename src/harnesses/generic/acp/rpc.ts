import { isJsonObject, type JsonObject } from '../../../lib/json.ts'

/** A message of JSON-RPC. A response has no method, a notification no id. */
export interface Rpc {
  readonly id?: string | number
  readonly method?: string
  readonly params: JsonObject
  readonly result?: JsonObject
  readonly error?: JsonObject
}

/** The message of a line; undefined: it is none, and says nothing here. Pure. */
export function rpcIn(line: string): Rpc | undefined {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return undefined
  }
  if (!isJsonObject(value)) return undefined
  const { id, method, params, result, error } = value
  return {
    params: isJsonObject(params) ? params : {},
    ...(typeof id === 'string' || typeof id === 'number' ? { id } : {}),
    ...(typeof method === 'string' ? { method } : {}),
    // A result of null is one too.
    ...('result' in value ? { result: isJsonObject(result) ? result : {} } : {}),
    ...(isJsonObject(error) ? { error } : {}),
  }
}

export const lineOf = (message: JsonObject): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`

/** 7 and "7" are two ids. */
export const keyOf = (id: string | number): string => JSON.stringify(id)
