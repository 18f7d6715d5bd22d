import { type CatalogQuery, searchCatalog } from '../../agent-card/catalog.ts'
import type { CardAgent } from '../../agent-card/documents.ts'
import type { JsonObject } from '../../lib/json.ts'
import { sizeLimits } from '../../limits.ts'
import type { Agent } from '../../registry/agents/agent.ts'
import { listAgentsAfter, listPublicAgentsAfter, sizeOfAgent } from '../../registry/agents/agent-store.ts'
import type { Reader } from '../../storage/database.ts'
import { cardAgent } from '../a2a/card-agent.ts'
import { catalogQuery } from './catalog-input.ts'
import { route } from './route.ts'

const limitDefault = 100
/** Agents that one page examines. */
const scannedMax = 1_000
/** Agents that are read in one query: few at first, and while they are large. */
const stepMin = 5
const stepMax = 25
const largeStep = 64 * 1024

/** `/v1/catalog`: the agent cards of the caller's project and the public ones of others, by skill, tag and text. */
export const catalogRoutes = [
  route('GET /v1/catalog', {
    name: 'catalog.search',
    what: 'search the catalog',
    access: { scope: 'read', operator: 'any', agent: 'project', peer: 'never', audited: 'no' },
    query: catalogQuery,
    handle: async (call, { db, cards }) => {
      const { limit = limitDefault, pageToken: after = '', ...query } = call.query
      const { agents, nextPageToken } = await catalogPage(db, call.caller.projectId, { query, limit, after })
      const found = await Promise.all(agents.map((agent) => cards.document(agent, '1.0')))
      return { cards: found.map(({ body }) => JSON.parse(body) as JsonObject), nextPageToken }
    },
  }),
] as const

/**
 * The next agents that a query finds: those of the project by handle, then the public ones of other projects. A search stops after a
 * number of agents, or of characters that they say about themselves: then a page has fewer cards than `limit`, even none, and its
 * token continues from there.
 */
export async function catalogPage(
  db: Reader,
  projectId: string,
  { query, limit, after }: { query: CatalogQuery; limit: number; after: string },
): Promise<{ agents: CardAgent[]; nextPageToken: string }> {
  const agents: CardAgent[] = []
  let last: string | undefined = after
  let read = 0
  let scanned = 0
  let step = stepMin
  while (last !== undefined && read < sizeLimits.page.max && scanned < scannedMax) {
    const some = await readAfter(db, projectId, last, step)
    const size = some.reduce((sum, agent) => sum + sizeOfAgent(agent), 0)
    read += size
    for (const agent of searchCatalog(some.map(cardAgent), query).sort(inReadingOrder)) {
      if (agents.length === limit) {
        return { agents, nextPageToken: tokenOf(projectId, agents.at(-1)!) }
      }
      agents.push(agent)
    }
    last = nextPosition(projectId, last, some, step)
    scanned += some.length
    step = size > largeStep ? stepMin : stepMax
  }
  return { agents, nextPageToken: last ?? '' }
}

const inReadingOrder = (one: CardAgent, other: CardAgent): number => (tokenOf('', one) < tokenOf('', other) ? -1 : 1)

/** A token that begins with the agents of other projects. */
export const firstElsewhere = ':'

/** The next agents after a token: `@donna` of the project, or `web:@donna` of another one. */
function readAfter(db: Reader, projectId: string, token: string, count: number): Promise<Agent[]> {
  if (!token.includes(':')) return listAgentsAfter(db, projectId, token, count)
  const [project = '', handle = ''] = token.split(':')
  return listPublicAgentsAfter(db, projectId, { projectId: project, handle }, count)
}

/** Where to read on; undefined: there are no more agents. */
function nextPosition(projectId: string, token: string, read: readonly Agent[], count: number): string | undefined {
  const last = read.at(-1)
  if (last && read.length === count) return tokenOf(projectId, { handle: last.handle, project: last.projectId })
  return token.includes(':') ? undefined : firstElsewhere
}

function tokenOf(projectId: string, { handle, project }: Pick<CardAgent, 'handle' | 'project'>): string {
  return project === projectId ? handle : `${project}:${handle}`
}
