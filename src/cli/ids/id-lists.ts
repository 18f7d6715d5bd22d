import { bareHandle, type GatewayClient } from '../../client/gateway-client.ts'
import type { TaskSummaryView } from '../../client/route-types.ts'
import { askingStates } from '../output/task-view.ts'
import { readable } from '../run/read-lists.ts'
import { readPages } from '../run/read-pages.ts'

/** Something that an abbreviation may mean. */
export interface Candidate {
  readonly id: string
  /** For the list of an ambiguous abbreviation: its state, its subject. */
  readonly about: string
}

type List = (gateway: GatewayClient, pagesMax: number) => Promise<Candidate[]>

/** The lists that have the ids of one kind. */
export interface IdLists {
  /** It begins each of these ids, and may be left out: `MESSAGE:`. */
  readonly prefix: string
  readonly lists: readonly List[]
}

/** The kinds of ids. `thread`: of a thread, or of a message in it. */
export const idKinds = {
  task: { prefix: '', lists: [tasksOf('assignee'), tasksOf('originator')] },
  message: { prefix: 'MESSAGE:', lists: [inbox(), sent()] },
  thread: { prefix: 'MESSAGE:', lists: [inbox(threadCandidates), sent(threadCandidates)] },
  subscription: { prefix: 'WAKE_SUB:', lists: [subscriptions] },
  session: { prefix: 'session_', lists: [sessionsOf('live'), sessionsOf('ended')] },
  approval: { prefix: 'APPROVAL:', lists: [approvals] },
  operatorKey: { prefix: '', lists: [operatorKeys] },
  permission: { prefix: '', lists: [permissions] },
} as const satisfies Readonly<Record<string, IdLists>>

export type IdKind = keyof typeof idKinds

/** The tasks that ask their originator something. */
export const questions: IdLists = { prefix: '', lists: askingStates.map((state) => tasksOf('originator', state)) }

/** The keys of an agent. */
export function keysOf(handle: string): IdLists {
  const params = { handle: bareHandle(handle) }
  const keys: List = async (gateway) =>
    (await gateway.call('GET /v1/agents/:handle/keys', { params })).keys.map(keyCandidate)
  return { prefix: '', lists: [keys] }
}

/** Reads the first pages of each list. A list that the key may not read has no candidates. */
export async function readIds(gateway: GatewayClient, { lists }: IdLists, pagesMax: number): Promise<Candidate[]> {
  return (await Promise.all(lists.map((list) => readable(list(gateway, pagesMax))))).flat()
}

function tasksOf(role: 'assignee' | 'originator', state?: TaskSummaryView['state']): List {
  return (gateway, pagesMax) =>
    readPages(
      (pageToken) =>
        gateway.call('GET /v1/tasks', { query: { role, state, pageSize: 100, historyLength: 1, pageToken } }),
      ({ tasks }) => tasks.map(({ id, state, assignee }) => ({ id, about: `${state} · ${assignee}` })),
      pagesMax,
    )
}

function inbox(candidatesOf = mailCandidates): List {
  return (gateway, pagesMax) =>
    readPages(
      (pageToken) => gateway.call('GET /v1/inbox', { query: { order: 'newest', limit: 200, pageToken } }),
      ({ messages }) => messages.flatMap(candidatesOf),
      pagesMax,
    )
}

function sent(candidatesOf = mailCandidates): List {
  return (gateway, pagesMax) =>
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

function subscriptions(gateway: GatewayClient, pagesMax: number): Promise<Candidate[]> {
  return readPages(
    (pageToken) => gateway.call('GET /v1/wake-subscriptions', { query: { pageToken } }),
    (page) =>
      page.subscriptions.map((one) => ({ id: one.subscriptionId, about: `${one.agentIdentity} · ${one.trigger}` })),
    pagesMax,
  )
}

function sessionsOf(status: 'live' | 'ended'): List {
  return (gateway, pagesMax) =>
    readPages(
      (pageToken) => gateway.call('GET /v1/sessions', { query: { status, limit: 200, pageToken } }),
      (page) =>
        page.sessions.map(({ sessionId, agent, surface }) => ({ id: sessionId, about: `${agent} · ${surface}` })),
      pagesMax,
    )
}

function approvals(gateway: GatewayClient, pagesMax: number): Promise<Candidate[]> {
  return readPages(
    (pageToken) => gateway.call('GET /v1/approvals', { query: { state: 'open', pageToken } }),
    (page) => page.approvals.map(({ approvalId, agent, tool }) => ({ id: approvalId, about: `${agent} · ${tool}` })),
    pagesMax,
  )
}

async function operatorKeys(gateway: GatewayClient): Promise<Candidate[]> {
  return (await gateway.call('GET /v1/operator-keys')).keys.map(keyCandidate)
}

function keyCandidate({ keyId, label }: { keyId: string; label: string | null }): Candidate {
  return { id: keyId, about: label ?? '' }
}

function permissions(gateway: GatewayClient, pagesMax: number): Promise<Candidate[]> {
  return readPages(
    (pageToken) => gateway.call('GET /v1/permissions', { query: { pageToken } }),
    (page) =>
      page.permissions.map((one) => ({
        id: one.permissionId,
        about: `${one.grantor} → ${one.grantee} · ${one.scope}`,
      })),
    pagesMax,
  )
}
