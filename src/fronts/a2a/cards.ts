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

/** Long enough to spare a busy gateway, short enough that a changed card is seen (specification §8.6). */
const cardMaxAgeSeconds = 60

/** The card of the agent that was called, with validators; v0.3 by `A2A-Version`, as a header or a parameter. */
export function serveCard(cards: CardDocuments): RequestHandler {
  return async (req, res) => {
    const agent = res.locals.agent as Agent
    const asked =
      req.get('a2a-version') ?? (typeof req.query['A2A-Version'] === 'string' ? req.query['A2A-Version'] : undefined)
    const document = await cards.document(cardAgent(agent), cardVersionFor(asked))
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
 * Whether the client has this document already (RFC 9110 §13). Express's `req.fresh` reads `Cache-Control: no-cache` as a
 * wish for the whole answer, and fetch sends that with every conditional request.
 */
function isUnchanged(req: Request, { etag, lastModified }: CardDocument): boolean {
  const tags = req.get('if-none-match')
  if (tags === undefined) return Date.parse(req.get('if-modified-since') ?? '') >= Date.parse(lastModified)
  return tags.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')))
}

/** `/.well-known/jwks.json`: the public keys that cards are signed with. */
export function jwksRoutes(signer: CardSigner): Router {
  const router = Router()
  router.get('/.well-known/jwks.json', (_req, res) => {
    res.setHeader('Cache-Control', 'public, max-age=300')
    res.json(signer.jwks())
  })
  return router
}

const catalogDefault = 100
/** Agents that the catalog reads at once. */
const catalogStep = 25

/** `/v1/catalog`: the cards of the caller's project, by skill, tag and text, page by page. */
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
 * The next agents that a query finds, by handle. A search that finds little ends after so many agents, or so much of what they
 * say about themselves: then a page has fewer cards than it may, even none, and goes on from where it ended.
 */
async function catalogPage(
  db: Reader,
  projectId: string,
  { query, limit, after }: { query: CatalogQuery; limit: number; after: string },
): Promise<{ agents: CardAgent[]; nextPageToken: string }> {
  const agents: CardAgent[] = []
  let last = after
  let looked = 0
  for (let characters = 0; characters < outputLimits.catalogPage.max && looked < outputLimits.catalogScan.max; ) {
    const read = await listAgentsAfter(db, projectId, last, catalogStep)
    for (const agent of searchCatalog(read.map(cardAgent), query)) {
      if (agents.length === limit) return { agents, nextPageToken: agents.at(-1)!.handle }
      agents.push(agent)
    }
    if (read.length < catalogStep) return { agents, nextPageToken: '' }
    last = read.at(-1)!.handle
    looked += read.length
    for (const agent of read) characters += sizeOfAgent(agent)
  }
  return { agents, nextPageToken: last }
}
