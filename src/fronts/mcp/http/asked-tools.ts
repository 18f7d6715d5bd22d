import type { Request } from 'express'
import { Problem } from '../../../errors.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import type { ToolSet } from '../tools/tool.ts'

/**
 * Returns the tools for operators that a request asks for: `/mcp?tools=read`, or `read,write`. undefined: it asks for none, and gets those
 * of agents. They are loaded with the first request that asks. Errors: `invalid-request`, `forbidden`.
 */
export async function askedTools({ query }: Pick<Request, 'query'>, caller: Caller): Promise<ToolSet | undefined> {
  if (query.tools === undefined) return undefined
  const { operatorToolSet, toolKinds } = await import('../operator/table.ts')
  const asked = String(query.tools).split(',')
  const kinds = toolKinds.filter((kind) => asked.includes(kind))
  if (kinds.length === 0 || kinds.length < asked.length) {
    throw new Problem('invalid-request', {
      field: 'tools',
      detail: 'tools: is read, write or read,write. Leave it out for the tools of agents.',
    })
  }
  return operatorToolSet(kinds, caller)
}
