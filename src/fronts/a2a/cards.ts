import { type Request, type RequestHandler, Router } from 'express'
import { cardVersionFor } from '../../agent-card/card-version.ts'
import { type CatalogQuery, searchCatalog } from '../../agent-card/catalog.ts'
import type { CardAgent, CardDocument, CardDocuments } from '../../agent-card/documents.ts'
import type { CardSigner } from '../../agent-card/signing.ts'
import { outputLimits } from '../../limits.ts'
import type { Agent } from '../../registry/agents/agent.ts'
import { listAgentsAfter, sizeOfAgent } from '../../registry/agents/agent-store.ts'
import type { Reader } from '../../storage/database.ts'
import { callerOf } from '../auth.ts'
import { catalogQuery } from '../rest/schemas.ts'
import { parse } from '../validate.ts'
import { cardAgent } from './card-agent.ts'

/** Long enough to spare a busy gateway, short enough that clients see a changed card soon (specification §8.6). */
const cardMaxAgeSeconds = 60

/** Serves the called agent's card with validators. `A2A-Version`, a header or a parameter, selects v0.3. */
export function serveCard(cards: CardDocuments): RequestHandler {
  return async (req, res) => {
    const agent = res.locals.agent as Agent
    const parameter = req.query['A2A-Version']
    const version = req.get('a2a-version') ?? (typeof parameter === 'string' ? parameter : undefined)
    const document = await cards.document(cardAgent(agent), cardVersionFor(version))
    res.setHeader('ETag', document.etag)
    res.setHeader('Last-Modified', document.lastModified)
    res.setHeader('Cache-Control', `${agent.access === 'private' ? 'private' : 'public'}, max-age=${cardMaxAgeSeconds}`)
    res.setHeader('Vary', agent.access === 'private' ? 'A2A-Version, Authorization' : 'A2A-Version')
    if (isUnchanged(req, document)) {
      res.status(304).end()
      return
    }
    res.setHeader('Content-Type', document.contentType)
    res.end(document.body)
  }
}

/**
 * Whether the client has this document already (RFC 9110 §13). Express's `req.fresh` is not used: with `Cache-Control:
 * no-cache` it is always false, and fetch sends that header with every conditional request.
 */
function isUnchanged(req: Request, { etag, lastModified }: CardDocument): boolean {
  const tags = req.get('if-none-match')
  if (tags === undefined) return Date.parse(req.get('if-modified-since') ?? '') >= Date.parse(lastModified)
  return tags.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')))
}

/** `/.well-known/jwks.json`: the public keys that verify card signatures. */
export function jwksRoutes(signer: CardSigner): Router {
  const router = Router()
  router.get('/.well-known/jwks.json', (_req, res) => {
    res.setHeader('Cache-Control', 'public, max-age=300')
    res.json(signer.jwks())
  })
  return router
}

const catalogDefault = 100
/** Number of agents that the catalog reads at once. */
const catalogStep = 25

/** `/v1/catalog`: searches the cards of the caller's project by skill, tag and text, page by page. */
export function catalogRoutes(db: Reader, cards: CardDocuments): Router {
  const router = Router()
  router.get('/', async (req, res) => {
    const { limit = catalogDefault, pageToken = '', ...query } = parse(catalogQuery, req.query)
    const { agents, nextPageToken } = await catalogPage(db, callerOf(res).projectId, { query, limit, after: pageToken })
    const found = await Promise.all(agents.map((agent) => cards.document(agent, '1.0')))
    res.json({ cards: found.map(({ body }) => JSON.parse(body)), nextPageToken })
  })
  return router
}

/**
 * The next agents that match a query, in the order of their handles. One page reads at most `catalogScan` agents and
 * `catalogPage` characters of their descriptions. So a page may hold fewer than `limit` cards, even none, and still have a next
 * page.
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
    const read = await listAgentsAfter(db, projectId, last, catalogStep)
    for (const agent of searchCatalog(read.map(cardAgent), query)) {
      if (agents.length === limit) return { agents, nextPageToken: agents.at(-1)!.handle }
      agents.push(agent)
    }
    if (read.length < catalogStep) return { agents, nextPageToken: '' }
    last = read.at(-1)!.handle
    scanned += read.length
    for (const agent of read) characters += sizeOfAgent(agent)
  }
  return { agents, nextPageToken: last }
}
