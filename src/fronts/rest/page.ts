import { Problem } from '../../errors.ts'
import { count, line } from './fields.ts'

/** Agents, keys, permissions or subscriptions in one page of a list. */
export const listMax = 500

/** Query fields of a list. */
export const pageFields = { limit: count(1, listMax).optional(), pageToken: line(500).optional() }

/** A page of a list, and the token of the next page: `''` at the end of the list. */
interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextPageToken: string
}

/** The page in a list of which one item more than the page was read. */
export function pageOf<Item>(found: readonly Item[], limit: number, tokenOf: (last: Item) => string): Page<Item> {
  const items = found.slice(0, limit)
  return { items, nextPageToken: nextToken(items, found.length > limit, tokenOf) }
}

/** The token of the page after these items. */
export function nextToken<Item>(items: readonly Item[], more: boolean, tokenOf: (last: Item) => string): string {
  return more ? tokenOf(items.at(-1)!) : ''
}

/** A position in a list that is ordered by time and id. */
interface Position {
  readonly createdAt: number
  readonly id: string
}

const start: Position = { createdAt: -1, id: '' }

/** The token of the page after this item. Clients send it back unchanged. */
export function positionToken({ createdAt, id }: Position): string {
  return Buffer.from(`${createdAt}/${id}`).toString('base64url')
}

/** Reads a token of `positionToken`. No token is the start of the list. Errors: `invalid-request`. */
export function readPosition(token: string | undefined): Position {
  if (!token) return start
  const [, createdAt, id] = /^(\d{1,15})\/(.{1,100})$/.exec(Buffer.from(token, 'base64url').toString()) ?? []
  if (createdAt !== undefined && id !== undefined) return { createdAt: Number(createdAt), id }
  throw unknownPageToken()
}

export function unknownPageToken(): Problem {
  return new Problem('invalid-request', {
    field: 'pageToken',
    detail: 'pageToken:',
    remedy: 'use-page-token-or-none',
  })
}
