import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import type { JsonObject } from '../lib/json.ts'
import { canonicalJson } from './canonical-json.ts'
import { agentPath, type CardSubject } from './card.ts'
import type { CardSigner } from './signing.ts'

export const aiCatalogPath = '/.well-known/ai-catalog.json'
export const aiCatalogType = 'application/ai-catalog+json'
/** The version of the AI Catalog specification (github.com/Agent-Card/ai-catalog). */
const specVersion = '0.9'
const hourMs = 3_600_000
/** How long readers may trust a signed catalog. */
const signedMs = 24 * hourMs

type AiCatalogAgent = Pick<CardSubject, 'handle' | 'project'> & { readonly updatedAt: number }

interface Content {
  readonly publicUrl: string
  readonly agents: readonly AiCatalogAgent[]
  /** Where the rest of the agents is. Absent: these are all. */
  readonly rest?: string | undefined
  /** True of the view of one caller. It is not signed: it would pass for the public catalog. */
  readonly isPrivate?: boolean
}

/** A catalog ready to be served. `etag` is quoted, and depends on the content, the hour and the signing key. */
export interface AiCatalog {
  readonly body: string
  readonly etag: string
}

/**
 * An AI Catalog of the MCP server and of agents. It is signed where the public URL has a name that can sign: see `didOf`. The time of a
 * signature is the begin of its hour, so that the catalog has the same tag while nothing changes.
 */
export async function makeAiCatalog(content: Content, signer: CardSigner, now: number): Promise<AiCatalog> {
  const did = content.isPrivate ? undefined : didOf(content.publicUrl)
  const issuedAt = Math.floor(now / hourMs) * hourMs
  const signature = {
    signer: did,
    profile: 'did-web-v1',
    issuedAt: new Date(issuedAt).toISOString(),
    expiresAt: new Date(issuedAt + signedMs).toISOString(),
  }
  const catalog = { ...unsigned(content), ...(did === undefined ? {} : { signature }) }
  const hash = createHash('sha256').update(signer.kid).update(canonicalJson(catalog))
  const etag = `"${hash.digest('base64url')}"`
  if (did === undefined) return { body: JSON.stringify(catalog), etag }
  const jws = await signer.signDetached(catalog, { typ: 'ai-catalog+jws', kid: `${did}#${signer.kid}` })
  return { body: JSON.stringify({ ...catalog, signature: { ...signature, jws } }), etag }
}

function unsigned({ publicUrl, agents, rest }: Content): JsonObject {
  const { host } = new URL(publicUrl)
  const identifier = didOf(publicUrl)
  /** An entry of this publisher. The name and the description are left to the card: a copy would drift. */
  const published = (type: string, name: string, url: string): JsonObject => {
    return { identifier: identifier === undefined ? url : `urn:air:${host}:${name}`, type, url }
  }
  return {
    specVersion,
    host: { displayName: `Rouse at ${host}`, ...(identifier === undefined ? {} : { identifier }) },
    entries: [
      published('application/mcp-server-card+json', 'rouse:mcp', `${publicUrl}/mcp/server-card`),
      ...agents.map((agent) => ({
        ...published(
          'application/a2a-agent-card+json',
          `${agent.project}/${agent.handle.replace(/^@/, '')}:a2a`,
          `${publicUrl}${agentPath(agent)}/.well-known/agent-card.json`,
        ),
        updatedAt: new Date(agent.updatedAt).toISOString(),
      })),
      ...(rest === undefined ? [] : [{ identifier: rest, type: aiCatalogType, url: rest }]),
    ],
  }
}

/**
 * The DID under which the gateway signs catalogs: `did:web:` and the domain of its public URL. Undefined where that is not https, or has
 * a port, a path or an IP address: then nobody could resolve the DID. Source: AI Catalog, the `did:web` Signer Profile.
 */
export function didOf(publicUrl: string): string | undefined {
  const { protocol, host, hostname, pathname } = new URL(publicUrl)
  const isDomain = hostname.includes('.') && !hostname.endsWith('.') && isIP(hostname) === 0
  return protocol === 'https:' && host === hostname && pathname === '/' && isDomain ? `did:web:${hostname}` : undefined
}

/** The DID document with the keys that sign catalogs. */
export function didDocument(did: string, { keys }: ReturnType<CardSigner['jwks']>): JsonObject {
  const methods = keys.map((publicKeyJwk) => ({
    id: `${did}#${publicKeyJwk.kid}`,
    type: 'JsonWebKey2020',
    controller: did,
    publicKeyJwk,
  }))
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/suites/jws-2020/v1'],
    id: did,
    verificationMethod: methods,
    assertionMethod: methods.map(({ id }) => id),
  }
}
