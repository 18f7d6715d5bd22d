import { hash } from 'node:crypto'
import type { JsonObject } from '../lib/json.ts'

/** The parts of a request of a harness that make it this request: the same command asked elsewhere is another one. */
interface HashedRequest {
  readonly harness: string
  readonly conversationId: string
  readonly kind: 'permission' | 'question'
  readonly tool: string
  readonly input: JsonObject
}

/** Returns the hash that names all of a request: SHA-256, 64 hex digits. A decision says which one was shown. Pure. */
export function inputHashOf({ harness, conversationId, kind, tool, input }: HashedRequest): string {
  return hash('sha256', JSON.stringify([harness, conversationId, kind, tool, input]), 'hex')
}
