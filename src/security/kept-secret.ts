/** A stored secret, which may be replaced while gateways use it. */
export interface KeptSecret {
  /** The stored secret; undefined: there is none. */
  read(): Promise<string | undefined>
  /** The stored secret. If there is none, stores what `make` returns. */
  load(make: () => string | Promise<string>): Promise<string>
  /** Replaces `before` by `after`. False: another secret is stored now, and stays. */
  replace(before: string, after: string): Promise<boolean>
}
