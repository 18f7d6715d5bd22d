/** A secret that outlives the process, and that may be replaced while gateways use it. */
export interface KeptSecret {
  /** What is kept now. */
  read(): Promise<string | undefined>
  /** What is kept, or what `make` returns where nothing is: from then on it is kept. */
  load(make: () => string | Promise<string>): Promise<string>
  /** Replaces `before` by `after`. False: something else is kept by now, and stays. */
  replace(before: string, after: string): Promise<boolean>
}
