/** One request and what came of it. */
export interface Shot {
  readonly what: string
  readonly sent: string
  /** 0: it was not sent. -1: no answer. */
  readonly status: number
  readonly answer: string
  readonly ms: number
}
