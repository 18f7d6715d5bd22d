import { int, type NounOf, named, text, word } from '../storage/columns.ts'

export const auditFields = {
  id: text,
  /** When it happened, or the first of `count` attempts, ms since the epoch. */
  at: int,
  lastAt: int,
  /** The caller's project; `''` when the caller is unknown. */
  project: named('project_id', text),
  /** The caller's identity in that project, e.g. `@donna`, `web:@zoe`, `@operator`; `''` when the caller is unknown. */
  actor: text,
  callerId: text,
  keyId: text,
  /** The IP address that the request came from; of a command (`front: 'cli'`) its user and machine, e.g. `donna@build-7`. */
  address: text,
  front: word<AuditFront>(),
  /** A name from the table of operations, e.g. `key.make` or `SendMessage`. */
  operation: text,
  /** The object of the operation, as the request names it. */
  target: text,
  /** `ok`, or the code of the problem in the answer; of a command also `failed` or `incomplete`. */
  outcome: text,
  /** How many attempts this record counts. More than 1 only for refused attempts. */
  count: int,
}

/** A stored entry. */
export type AuditRecord = NounOf<typeof auditFields>

/** One line of the audit: who did what to what, from where and with which key, and how it ended. Ids and names only. */
export type AuditEntry = Omit<AuditRecord, 'id' | 'at' | 'lastAt' | 'count'>

/** `cli`: a command that changed a store or its keys itself, without a gateway. */
export type AuditFront = 'rest' | 'json-rpc' | 'http+json' | 'grpc' | 'mcp' | 'gateway' | 'cli'
