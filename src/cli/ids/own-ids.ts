import { Refused, UsageError } from '../../client/failure.ts'
import { bareHandle, type GatewayClient } from '../../client/gateway-client.ts'
import { clip, plain } from '../../client/terminal-text.ts'
import { readPages } from '../run/read-pages.ts'

/** Shorter ones are taken as whole ids: they would mean anything. */
const lengthMin = 4

/** Candidates that an ambiguous abbreviation is shown with. */
const shownMax = 10

const aboutMax = 60

/** Pages of each list that are searched for an abbreviated id, newest first where the list is. */
const pagesMax = 5

/** Abbreviated ids, resolved over the lists that the caller of a command may read. */
interface OwnIds {
  task(given: string): Promise<string>
  message(given: string): Promise<string>
  /** Of a thread, or of a message in it. */
  thread(given: string): Promise<string>
  subscription(given: string): Promise<string>
  session(given: string): Promise<string>
  /** Of an agent. */
  key(handle: string, given: string): Promise<string>
  operatorKey(given: string): Promise<string>
  permission(given: string): Promise<string>
}

export function ownIds(gateway: GatewayClient): OwnIds {
  const resolve = (given: string, prefix: string, lists: readonly List[]) =>
    resolveId(given, prefix, async () => (await Promise.all(lists.map((list) => readable(list)))).flat())
  return {
    task: (given) => resolve(given, '', [tasksOf(gateway, 'assignee'), tasksOf(gateway, 'originator')]),
    message: (given) => resolve(given, 'MESSAGE:', [inbox(gateway), sent(gateway)]),
    thread: (given) => resolve(given, 'MESSAGE:', [inbox(gateway, threadCandidates), sent(gateway, threadCandidates)]),
    subscription: (given) => resolve(given, 'WAKE_SUB:', [subscriptions(gateway)]),
    session: (given) => resolve(given, 'session_', [sessions(gateway, 'live'), sessions(gateway, 'ended')]),
    key: (handle, given) => resolve(given, '', [keys(gateway, handle)]),
    operatorKey: (given) => resolve(given, '', [operatorKeys(gateway)]),
    permission: (given) => resolve(given, '', [permissions(gateway)]),
  }
}

type List = () => Promise<Candidate[]>

/** A list that the key may not read has no candidates: the text is then taken as a whole id. */
async function readable(list: List): Promise<Candidate[]> {
  try {
    return await list()
  } catch (error) {
    if (error instanceof Refused) return []
    throw error
  }
}

function tasksOf(gateway: GatewayClient, role: 'assignee' | 'originator'): List {
  return () =>
    readPages(
      (pageToken) => gateway.call('GET /v1/tasks', { query: { role, pageSize: 100, historyLength: 1, pageToken } }),
      ({ tasks }) => tasks.map(({ id, state, assignee }) => ({ id, about: `${state} · ${assignee}` })),
      pagesMax,
    )
}

function inbox(gateway: GatewayClient, candidatesOf = mailCandidates): List {
  return () =>
    readPages(
      (pageToken) => gateway.call('GET /v1/inbox', { query: { order: 'newest', limit: 200, pageToken } }),
      ({ messages }) => messages.flatMap(candidatesOf),
      pagesMax,
    )
}

function sent(gateway: GatewayClient, candidatesOf = mailCandidates): List {
  return () =>
    readPages(
      (pageToken) => gateway.call('GET /v1/messages', { query: { limit: 200, pageToken } }),
      ({ messages }) => messages.flatMap(candidatesOf),
      pagesMax,
    )
}

type Mail = Readonly<Record<'messageId' | 'threadId' | 'from' | 'subject', string>>

function mailCandidates({ messageId, from, subject }: Mail): Candidate[] {
  return [{ id: messageId, about: `${from} · ${subject}` }]
}

function threadCandidates(mail: Mail): Candidate[] {
  return [{ id: mail.threadId, about: `the thread of ${mail.subject}` }, ...mailCandidates(mail)]
}

function subscriptions(gateway: GatewayClient): List {
  return () =>
    readPages(
      (pageToken) => gateway.call('GET /v1/wake-subscriptions', { query: { pageToken } }),
      (page) =>
        page.subscriptions.map((one) => ({ id: one.subscriptionId, about: `${one.agentIdentity} · ${one.trigger}` })),
      pagesMax,
    )
}

function sessions(gateway: GatewayClient, status: 'live' | 'ended'): List {
  return () =>
    readPages(
      (pageToken) => gateway.call('GET /v1/sessions', { query: { status, limit: 200, pageToken } }),
      (page) =>
        page.sessions.map(({ sessionId, agent, surface }) => ({ id: sessionId, about: `${agent} · ${surface}` })),
      pagesMax,
    )
}

function keys(gateway: GatewayClient, handle: string): List {
  const params = { handle: bareHandle(handle) }
  return async () => (await gateway.call('GET /v1/agents/:handle/keys', { params })).keys.map(keyCandidate)
}

function operatorKeys(gateway: GatewayClient): List {
  return async () => (await gateway.call('GET /v1/operator-keys')).keys.map(keyCandidate)
}

function keyCandidate({ keyId, label }: { keyId: string; label: string | null }): Candidate {
  return { id: keyId, about: label ?? '' }
}

function permissions(gateway: GatewayClient): List {
  return () =>
    readPages(
      (pageToken) => gateway.call('GET /v1/permissions', { query: { pageToken } }),
      (page) =>
        page.permissions.map((one) => ({
          id: one.permissionId,
          about: `${one.grantor} → ${one.grantee} · ${one.scope}`,
        })),
      pagesMax,
    )
}

/** Something that an abbreviation may mean. */
interface Candidate {
  readonly id: string
  /** For the list of an ambiguous abbreviation: its state, its subject. */
  readonly about: string
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

/** A UUID with or without the prefix of its kind, or a ULID. */
function isWhole(text: string): boolean {
  return /(?:^|[:_])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text) || /^[0-9A-HJKMNP-TV-Z]{26}$/.test(text)
}
