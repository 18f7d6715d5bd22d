import { openTable } from '../rest/table.ts'

/** What answers everybody, with a key or without one: health, public keys, and the cards of agents that are not private. */
export const publicRoutes: readonly string[] = [
  ...openTable.routes.map(({ route }) => route),
  'GET /.well-known/jwks.json',
  'GET /agents/.well-known/{*file}',
  'GET /agents/:handle/.well-known/agent-card.json',
  'GET /agents/:handle/.well-known/agent.json',
  'GET /projects/:project/agents/:handle/.well-known/agent-card.json',
  'GET /projects/:project/agents/:handle/.well-known/agent.json',
]
