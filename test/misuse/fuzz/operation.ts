/**
 * One request that is right, to be made wrong. `:word` stands for an id: of something of the caller's own, or, where the word begins with
 * `spare`, of something that is made for the one request.
 */
export interface Operation {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly query?: object | undefined
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** It is mostly sent as the operator: agents are refused before its input is read. */
  readonly as?: 'operator'
  /** It may ask the gateway to wait: its answer is not waited for. */
  readonly mayWait?: true
  /** It is refused as it is: what it names is not there. */
  readonly isRefused?: true
}

export function operation(name: string, method: string, path: string, more: Partial<Operation> = {}): Operation {
  return { name, method, path, ...more }
}
