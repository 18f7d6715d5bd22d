import type { RestOperation } from '../../access/operation.ts'
import { type RouteTable, routeTable } from '../../rest/route-table.ts'

interface McpRoute {
  readonly route: 'POST /mcp' | 'GET /mcp' | 'DELETE /mcp'
  readonly operation: RestOperation
}

type Row = Omit<RestOperation, 'route'>

/**
 * Who may use `/mcp`. Each tool has the access of the route that it calls, and is recorded as that; a resource is read by such a call
 * too. So here every key is let in.
 */
const rows: readonly (readonly [McpRoute['route'], Row])[] = [
  [
    'POST /mcp',
    {
      name: 'mcp.post',
      what: 'send MCP messages',
      scope: 'any',
      operator: 'any',
      agent: 'own',
      peer: 'never',
      audited: 'no',
    },
  ],
  [
    'GET /mcp',
    {
      name: 'mcp.listen',
      what: 'read the notifications of an MCP session',
      scope: 'read',
      operator: 'any',
      agent: 'own',
      peer: 'never',
      audited: 'no',
    },
  ],
  [
    'DELETE /mcp',
    {
      name: 'mcp.end',
      what: 'end an MCP session',
      scope: 'any',
      operator: 'any',
      agent: 'own',
      peer: 'never',
      audited: 'no',
    },
  ],
]

export const mcpTable: RouteTable<McpRoute> = routeTable(
  rows.map(([route, operation]) => ({ route, operation: { route, ...operation } })),
)

/** To listen without a session is what `GET /mcp` is with one. */
export const listenOperation: RestOperation = mcpTable.match('GET', '/mcp')!.route.operation

export const mcpOperations: readonly RestOperation[] = mcpTable.routes.map(({ operation }) => operation)
