import type { ServerResponse } from 'node:http'
import type { RequestHandler } from 'express'
import { Attachment } from '../../lib/attachment.ts'
import type { FrontContext } from '../front-context.ts'

type Issuing = Pick<FrontContext, 'publicUrl' | 'issuers'>

const named = new Attachment<ServerResponse, Protected>('protected resource')

interface Protected {
  readonly context: Issuing
  readonly path: ResourcePath
}

/** A resource that takes tokens: the whole gateway, or its MCP server. */
export type ResourcePath = '' | '/mcp'

/** Says to which resource a request goes, for the challenge of a 401. */
export const protect =
  (context: Issuing, path: ResourcePath): RequestHandler =>
  (_req, res, next) => {
    named.set(res, { context, path })
    next()
  }

/** Where the metadata of a resource is. Source: RFC 9728 section 3.1. */
export const metadataPath = <Path extends ResourcePath>(path: Path) =>
  `/.well-known/oauth-protected-resource${path}` as const

/**
 * The `WWW-Authenticate` of a 401. Where tokens of issuers are accepted, it names the metadata by which clients find the issuers.
 * Source: RFC 9728 section 5.1.
 */
export function challengeOf(res: ServerResponse): string {
  const { context, path } = named.get(res) ?? {}
  const realm = 'Bearer realm="rouse"'
  if (context === undefined || path === undefined || context.issuers.length === 0) return realm
  // As a URL it has no quotes.
  return `${realm}, resource_metadata="${new URL(context.publicUrl + metadataPath(path)).href}"`
}
