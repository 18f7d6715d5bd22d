import type { Request, RequestHandler } from 'express'
import { cardVersionFor } from '../../agent-card/card-version.ts'
import type { CardDocument, CardDocuments } from '../../agent-card/documents.ts'
import type { Agent } from '../../registry/agents/agent.ts'
import { cardAgent } from './card-agent.ts'

/** Long enough to spare a busy gateway, short enough that a changed card is seen (specification §8.6). */
const cardMaxAgeSeconds = 60

/**
 * The card of the agent that was called, with validators, in the version that `A2A-Version` names, as a header or a parameter. Without it
 * the old path has the card of v0.3, and the other one a card that clients of both versions can read.
 */
export function serveCard(cards: CardDocuments): RequestHandler {
  return async (req, res) => {
    const agent = res.locals.agent as Agent
    const requested =
      req.get('a2a-version') ?? (typeof req.query['A2A-Version'] === 'string' ? req.query['A2A-Version'] : undefined)
    const unasked = req.path.endsWith('/agent.json') ? '0.3' : 'both'
    const document = await cards.document(cardAgent(agent), cardVersionFor(requested) ?? unasked)
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
