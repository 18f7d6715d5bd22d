import { z } from 'zod'
import { type CatalogQuery, searchCatalog } from '../../agent-card/catalog.ts'
import type { CardAgent, CardDocuments } from '../../agent-card/documents.ts'
import type { JsonObject } from '../../lib/json.ts'
import { outputLimits } from '../../limits.ts'
import { listAgentsAfter, sizeOfAgent } from '../../registry/agents/agent-store.ts'
import type { Reader } from '../../storage/database.ts'
import { cardAgent } from '../a2a/card-agent.ts'
import { count, line } from './fields.ts'
import { route } from './route.ts'

const limitDefault = 100
/** Agents that are read in one query. */
const scanPage = 25

const catalogQuery = z.strictObject({
  skill: line(200).optional(),
  tag: line(200).optional(),
  q: line(500).optional(),
  limit: count(1, 200).optional(),
  pageToken: line(200).optional(),
})

/** `/v1/catalog`: the agent cards of the caller's project, by skill, tag and text. */
export const catalogRoutes = [
  route('GET /v1/catalog', {
    name: 'catalog.search',
    what: 'search the catalog',
    access: { scope: 'read', operator: 'any', agent: 'project', peer: 'never', audited: 'no' },
    query: catalogQuery,
    handle: async (call, { db, cards }: { readonly db: Reader; readonly cards: CardDocuments }) => {
      const { limit = limitDefault, pageToken: after = '', ...query } = call.query
      const { agents, nextPageToken } = await catalogPage(db, call.caller.projectId, { query, limit, after })
      const found = await Promise.all(agents.map((agent) => cards.document(agent, '1.0')))
      return { cards: found.map(({ body }) => JSON.parse(body) as JsonObject), nextPageToken }
    },
  }),
] as const

/**
 * The next agents that a query finds, by handle. A search stops after a number of agents, or of characters that they say about
 * themselves: then a page has fewer cards than `limit`, even none, and its token continues from there.
 */
async function catalogPage(
  db: Reader,
  projectId: string,
  { query, limit, after }: { query: CatalogQuery; limit: number; after: string },
): Promise<{ agents: CardAgent[]; nextPageToken: string }> {
  const agents: CardAgent[] = []
  let last = after
  let scanned = 0
  for (let characters = 0; characters < outputLimits.catalogPage.max && scanned < outputLimits.catalogScan.max; ) {
    const read = await listAgentsAfter(db, projectId, last, scanPage)
    for (const agent of searchCatalog(read.map(cardAgent), query)) {
      if (agents.length === limit) return { agents, nextPageToken: agents.at(-1)!.handle }
      agents.push(agent)
    }
    if (read.length < scanPage) return { agents, nextPageToken: '' }
    last = read.at(-1)!.handle
    scanned += read.length
    for (const agent of read) characters += sizeOfAgent(agent)
  }
  return { agents, nextPageToken: last }
}
