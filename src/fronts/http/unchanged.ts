import type { Request } from 'express'

/**
 * True when the client has this document already (RFC 9110 §13). Express's `req.fresh` reads `Cache-Control: no-cache` as a
 * wish for the whole answer, and fetch sends that with every conditional request.
 */
export function isUnchanged(
  req: Request,
  { etag, lastModified = '' }: { readonly etag: string; readonly lastModified?: string },
): boolean {
  const tags = req.get('if-none-match')
  if (tags === undefined) return Date.parse(req.get('if-modified-since') ?? '') >= Date.parse(lastModified)
  return tags.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')))
}
