/** One line of the audit: who did what to what, from where and with which key, and how it ended. Ids and names only. */
export interface AuditEntry {
  /** The project that it happened in; `''` where nobody was recognised. */
  readonly project: string
  /** The caller as that project calls it, e.g. `@donna`, `web:@zoe`, `@operator`; `''` where nobody was recognised. */
  readonly actor: string
  readonly callerId: string
  readonly keyId: string
  /** The IP address that the request came from. */
  readonly address: string
  readonly front: AuditFront
  /** A name of the table of operations, e.g. `key.make` or `SendMessage`. */
  readonly operation: string
  /** What it was done to, as the request names it. */
  readonly target: string
  /** `ok`, or the code of the problem that was answered. */
  readonly outcome: string
}

export type AuditFront = 'rest' | 'json-rpc' | 'http+json' | 'grpc' | 'gateway'

/** An entry as it is kept. */
export interface AuditRecord extends AuditEntry {
  readonly id: string
  /** When it happened, or the first of `count`: ms since the epoch. */
  readonly at: number
  readonly lastAt: number
  /** How many attempts this record stands for. More than 1 for refused ones only. */
  readonly count: number
}
