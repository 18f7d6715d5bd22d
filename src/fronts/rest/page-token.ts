import { Problem } from '../../errors.ts'

/** Where a list that is ordered by time and id goes on. */
export interface Position {
  readonly createdAt: number
  readonly id: string
}

const start: Position = { createdAt: -1, id: '' }

/** The position behind a page's last item; callers hand it back as it is. */
export function pageToken({ createdAt, id }: Position): string {
  return Buffer.from(`${createdAt}/${id}`).toString('base64url')
}

/** Reads a token back; none is the start of the list. Errors: `invalid-request`. */
export function readPageToken(token: string | undefined): Position {
  if (!token) return start
  const [, createdAt, id] = /^(\d{1,15})\/(.{1,100})$/.exec(Buffer.from(token, 'base64url').toString()) ?? []
  if (createdAt !== undefined && id !== undefined) return { createdAt: Number(createdAt), id }
  throw new Problem('invalid-request', {
    field: 'pageToken',
    detail: 'pageToken: send back what `nextPageToken` of the page before said, or leave it out to start over.',
  })
}

/** One more than a page was read: the page, and where the next one starts ('' at the end of the list). */
export function paged<Item>(found: readonly Item[], limit: number, tokenOf: (last: Item) => string) {
  const items = found.slice(0, limit)
  return { items, nextPageToken: found.length > limit ? tokenOf(items.at(-1)!) : '' }
}
