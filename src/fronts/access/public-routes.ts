import { openTable } from '../rest/table.ts'

/** The routes that need no key: health, public keys, and the cards of agents that are not private. */
export const publicRoutes: readonly string[] = [
  ...openTable.routes.map(({ route }) => route),
  'GET /agents/.well-known/{*file}',
  'GET /agents/:handle/.well-known/agent-card.json',
  'GET /agents/:handle/.well-known/agent.json',
  'GET /projects/:project/agents/:handle/.well-known/agent-card.json',
  'GET /projects/:project/agents/:handle/.well-known/agent.json',
]
