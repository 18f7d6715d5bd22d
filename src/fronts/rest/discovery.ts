import type { Request, Response } from 'express'
import {
  type AiCatalog,
  aiCatalogPath,
  aiCatalogType,
  didDocument,
  didOf,
  makeAiCatalog,
} from '../../agent-card/ai-catalog.ts'
import { Problem } from '../../errors.ts'
import { readVersion } from '../../lib/version.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import { authorise } from '../access/authorise.ts'
import type { FrontContext } from '../front-context.ts'
import { admitRequest, slotOf } from '../http/admit-request.ts'
import { actInProject, callerOf, requireKey } from '../http/auth.ts'
import { markPublic } from '../http/public-document.ts'
import { isUnchanged } from '../http/unchanged.ts'
import { inOrder, passes } from '../in-order.ts'
import { parse } from '../validate.ts'
import { catalogPage, catalogRoutes, firstElsewhere } from './catalog.ts'
import { aiCatalogQuery } from './catalog-input.ts'
import { openRoute } from './route.ts'

/** Agents in one AI Catalog. */
const entriesMax = 1_000
/** How long the catalog for everybody is kept: requests without a key have no rate, and reading this many agents costs. */
const keptMs = 10_000
const version = readVersion()

/** The documents by which clients find what is at this address. */
export const discoveryRoutes = [
  /** The public agents and the MCP server; with a key, the agents that `GET /v1/catalog` has for it. Source: D43. */
  openRoute(`GET ${aiCatalogPath}`, async ({ req, res }, context) => {
    const caller = await callerIfAny(req, res, context)
    using _held = slotOf(res).hold()
    const { after } = parse(aiCatalogQuery, req.query)
    if (after !== undefined && caller === undefined) {
      throw new Problem('unauthenticated', { detail: 'after: pages after the first one need a key.', field: 'after' })
    }
    const catalog = caller ? await readCatalog(context, caller, after) : await keptForAll(context)
    res.setHeader('Vary', 'Authorization, Rouse-Project')
    if (caller) res.setHeader('Cache-Control', 'private, no-cache')
    else markPublic(res, 60)
    res.setHeader('ETag', catalog.etag)
    if (isUnchanged(req, catalog)) return void res.status(304).end()
    res.setHeader('Content-Type', aiCatalogType)
    res.end(catalog.body)
  }),
  openRoute('GET /.well-known/did.json', async ({ res }, { publicUrl, signer }) => {
    const did = didOf(publicUrl)
    if (did === undefined) {
      throw new Problem('not-found', {
        detail: 'This gateway has no DID. Set ROUSE_PUBLIC_URL to an https address with a domain, no port and no path.',
      })
    }
    res.setHeader('Content-Type', 'application/did+json')
    markPublic(res, 300)
    return didDocument(did, signer.jwks())
  }),
  openRoute('GET /mcp/server-card', async ({ res }, { publicUrl, issuers }) => {
    res.setHeader('Content-Type', 'application/mcp-server-card+json')
    markPublic(res, 300)
    return mcpServerCard(publicUrl, issuers.length > 0)
  }),
] as const

/** A wrong key is refused: its holder would take the answer for everybody for all that there is. */
async function callerIfAny(req: Request, res: Response, context: FrontContext): Promise<Caller | undefined> {
  if (req.get('authorization') === undefined) return undefined
  await passes(inOrder([requireKey(context), admitRequest(context.admission), actInProject(context)]), req, res)
  const caller = callerOf(res)
  authorise(catalogRoutes[0].operation, caller)
  return caller
}

function keptForAll(context: FrontContext): Promise<AiCatalog> {
  const { clock, signer, openCatalog } = context
  const revision = `${Math.floor(clock.now() / keptMs)} ${signer.kid}`
  return openCatalog.get('', revision, () => readCatalog(context, undefined, firstElsewhere))
}

async function readCatalog(
  { db, clock, signer, publicUrl }: FrontContext,
  caller: Caller | undefined,
  after = '',
): Promise<AiCatalog> {
  const page = { query: {}, limit: entriesMax, after }
  const { agents, nextPageToken } = await catalogPage(db, caller?.projectId ?? '', page)
  const hasRest = caller !== undefined && nextPageToken !== ''
  const rest = hasRest ? `${publicUrl}${aiCatalogPath}?${new URLSearchParams({ after: nextPageToken })}` : undefined
  return makeAiCatalog({ publicUrl, agents, rest, isPrivate: caller !== undefined }, signer, clock.now())
}

/** The card of `/mcp` (SEP-2127). Where issuers are trusted, clients find from the 401 how to get a token. */
function mcpServerCard(publicUrl: string, hasIssuers: boolean): object {
  const key = { name: 'Authorization', description: 'Bearer and a key of the agent.', isRequired: true, isSecret: true }
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    name: 'dev.rouse/gateway',
    title: 'Rouse',
    version,
    description: 'Mail, tasks and claims between agents, which are woken when something arrives.',
    remotes: [{ type: 'streamable-http', url: `${publicUrl}/mcp`, ...(hasIssuers ? {} : { headers: [key] }) }],
  }
}
