import { UsageError } from '../../client/failure.ts'
import type { GatewayClient } from '../../client/gateway-client.ts'
import { clip, plain } from '../../client/terminal-text.ts'
import { type Candidate, type IdKind, type IdLists, idKinds, keysOf, readIds } from './id-lists.ts'

/** Shorter ones are taken as whole ids: they would mean anything. */
const lengthMin = 4

/** Candidates that an ambiguous abbreviation is shown with. */
const shownMax = 10

const aboutMax = 60

/** Pages of each list that are searched for an abbreviated id, newest first where the list is. */
const pagesMax = 5

/** Abbreviated ids, resolved over the lists that the caller of a command may read. */
type OwnIds = Readonly<Record<IdKind, (given: string) => Promise<string>>> & {
  /** Of an agent. */
  key(handle: string, given: string): Promise<string>
}

export function ownIds(gateway: GatewayClient): OwnIds {
  const resolve = (given: string, kind: IdLists) =>
    resolveId(given, kind.prefix, () => readIds(gateway, kind, pagesMax))
  const of = (kind: IdKind) => (given: string) => resolve(given, idKinds[kind])
  return {
    task: of('task'),
    message: of('message'),
    thread: of('thread'),
    subscription: of('subscription'),
    session: of('session'),
    approval: (given) => of('approval')(ulid.test(given) ? `APPROVAL:${given}` : given),
    operatorKey: of('operatorKey'),
    permission: of('permission'),
    key: (handle, given) => resolve(given, keysOf(handle)),
  }
}

/**
 * Returns the id that a text means: a whole id unchanged, otherwise the only id of `list` with this beginning or end. The prefix of a kind
 * of ids (`MESSAGE:`) may be left out, and the ellipsis of a cut table may be copied along. Without a match the text is returned unchanged,
 * and the gateway refuses it. Errors: several match.
 */
export async function resolveId(
  given: string,
  prefix: string,
  list: () => Promise<readonly Candidate[]>,
): Promise<string> {
  const text = given.trim().replace(/^(…|\.{3})|(…|\.{3})$/g, '')
  if (isWhole(text)) return /^[0-9a-f]{8}-/i.test(text) ? prefix + text : text
  if (text.length < lengthMin) return given
  const matches = matching(text, prefix, await list())
  if (matches.length <= 1) return matches[0]?.id ?? text
  throw ambiguous(text, matches)
}

/** The candidates that an abbreviation may mean; one that is exactly it is the only one. Pure. */
function matching(text: string, prefix: string, candidates: readonly Candidate[]): Candidate[] {
  const wanted = text.toLowerCase()
  const byId = new Map(candidates.map((candidate) => [candidate.id, candidate]))
  const found = [...byId.values()].filter(({ id }) => {
    const whole = id.toLowerCase()
    const bare = whole.startsWith(prefix.toLowerCase()) ? whole.slice(prefix.length) : whole
    return whole.startsWith(wanted) || bare.startsWith(wanted) || whole.endsWith(wanted)
  })
  const exact = found.filter(({ id }) => id.toLowerCase() === wanted)
  return exact.length > 0 ? exact : found
}

function ambiguous(text: string, matches: readonly Candidate[]): UsageError {
  const shown = matches.slice(0, shownMax).map(({ id, about }) => `  ${id}  ${clip(plain(about), aboutMax)}`.trimEnd())
  const more = matches.length > shownMax ? [`  and ${matches.length - shownMax} more`] : []
  return new UsageError(
    [`"${text}" means ${matches.length} of them. Give more of the id:`, ...shown, ...more].join('\n'),
  )
}

const ulid = /^[0-9A-HJKMNP-TV-Z]{26}$/

/** A UUID with or without the prefix of its kind, or a ULID. */
function isWhole(text: string): boolean {
  return (
    /(?:^|[:_])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text) || ulid.test(text.replace(/^APPROVAL:/, ''))
  )
}
