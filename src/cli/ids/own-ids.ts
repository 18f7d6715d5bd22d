import { Refused } from '../../client/failure.ts'
import { bareHandle, type GatewayClient } from '../../client/gateway-client.ts'
import { readPages } from '../run/read-pages.ts'
import { type Candidate, resolveId } from './resolve-id.ts'

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
