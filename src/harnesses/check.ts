/** One check, and its result. */
export interface Check {
  /** `MCP server`, `hooks`, `key` */
  readonly name: string
  /** `unknown`: it could not be looked at, and need not be wrong. */
  readonly state: 'ok' | 'broken' | 'unknown'
  readonly detail: string
  /** The one command, or act, that mends it. */
  readonly mend?: string
}

export function ok(name: string, detail: string): Check {
  return { name, state: 'ok', detail }
}

export function broken(name: string, detail: string, mend: string): Check {
  return { name, state: 'broken', detail, mend }
}

export function unknown(name: string, detail: string, mend?: string): Check {
  return { name, state: 'unknown', detail, ...(mend === undefined ? {} : { mend }) }
}
