/** One line of the audit: who did what to what, from where and with which key, and how it ended. Ids and names only. */
export interface AuditEntry {
  /** The caller's project; `''` when the caller is unknown. */
  readonly project: string
  /** The caller's identity in that project, e.g. `@donna`, `web:@zoe`, `@operator`; `''` when the caller is unknown. */
  readonly actor: string
  readonly callerId: string
  readonly keyId: string
  /** The IP address that the request came from; of a command (`front: 'cli'`) its user and machine, e.g. `donna@build-7`. */
  readonly address: string
  readonly front: AuditFront
  /** A name from the table of operations, e.g. `key.make` or `SendMessage`. */
  readonly operation: string
  /** The object of the operation, as the request names it. */
  readonly target: string
  /** `ok`, or the code of the problem in the answer; of a command also `failed` or `incomplete`. */
  readonly outcome: string
}

/** `cli`: a command that changed a store or its keys itself, without a gateway. */
export type AuditFront = 'rest' | 'json-rpc' | 'http+json' | 'grpc' | 'mcp' | 'gateway' | 'cli'

/** A stored entry. */
export interface AuditRecord extends AuditEntry {
  readonly id: string
  /** When it happened, or the first of `count` attempts, ms since the epoch. */
  readonly at: number
  readonly lastAt: number
  /** How many attempts this record counts. More than 1 only for refused attempts. */
  readonly count: number
}
