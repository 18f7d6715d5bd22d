/** The answer of a route, until it is sent. */
export class Reply {
  /** Of a success. A handler may set another one. */
  status: number
  readonly headers: Record<string, string> = {}
  /** The object of the call in the audit, where the path does not name it. */
  target: string | undefined

  constructor(status: number) {
    this.status = status
  }
}
