import type { RestOperation } from '../../access/operation.ts'
import { type RouteTable, routeTable } from '../../rest/route-table.ts'

interface McpRoute {
  readonly route: 'POST /mcp' | 'GET /mcp' | 'DELETE /mcp'
  readonly operation: RestOperation
}

/**
 * The access to `/mcp`. Each tool has the access of the route that it calls, and is recorded as that; a resource is read by such a call
 * too. So here every key is let in.
 */
const rows = [
  { route: 'POST /mcp', name: 'mcp.post', what: 'send MCP messages', scope: 'any' },
  { route: 'GET /mcp', name: 'mcp.listen', what: 'read the notifications of an MCP session', scope: 'read' },
  { route: 'DELETE /mcp', name: 'mcp.end', what: 'end an MCP session', scope: 'any' },
] as const
const access = { operator: 'any', agent: 'own', peer: 'never', audited: 'no' } as const

export const mcpTable: RouteTable<McpRoute> = routeTable(
  rows.map((row) => ({ route: row.route, operation: { ...row, ...access } })),
)

/** The sessionless counterpart of `GET /mcp`. */
export const listenOperation: RestOperation = mcpTable.match('GET', '/mcp')!.route.operation

export const mcpOperations: readonly RestOperation[] = mcpTable.routes.map(({ operation }) => operation)
