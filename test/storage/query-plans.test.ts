import Sqlite from 'better-sqlite3'
import { afterEach, expect, test, vi } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { pruneEvents } from '../../src/log/prune-events.ts'
import { silentLogger } from '../../src/logger.ts'
import { pruneMessages } from '../../src/mailbox/retention.ts'
import { pruneIdempotencyKeys } from '../../src/registry/idempotency.ts'
import { endSilentSessions } from '../../src/sessions/end-silent-sessions.ts'
import type { Database } from '../../src/storage/database.ts'
import { SqliteDatabase } from '../../src/storage/sqlite/sqlite-database.ts'
import { missedEdgeSweep } from '../../src/wakes/missed-edges.ts'
import { pruneDeliveries } from '../../src/wakes/store/delivery-store.ts'
import { pruneHeld } from '../../src/wakes/store/held-store.ts'
import { beginSession, openStream, ping, post } from '../fronts/mcp/http/wire.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { readWakes } from '../support/wake-reader.ts'

afterEach(() => void vi.restoreAllMocks())

/** Small tables that only an operator's list or a start reads whole. */
const mayScan = [
  /from subscription where project_id =/,
  /update subscription set lease_owner = null, due_at = \? where lease_owner is not null/,
  /from permission where project_id =/,
  /from operator_key order by created_at/,
  /schema_migration/,
  /from project( order by id)?$/,
]

/** The indexes that no statement below uses, with the query that needs each. */
const mayBeUnused: Readonly<Record<string, string>> = {
  event_by_task: 'reads the events of one task for its streams and pushes',
  delivery_unfinished: 'reads the wakes that a gateway was sending when it ended',
  held_wake_released: 'reads the events of a release for a digest',
  mcp_session_by_use: 'removes sessions that nobody has used for long',
  reserved_name_by_handle: 'frees the names of a removed agent',
  subscription_live_push:
    'counts the push configs of an agent; on PostgreSQL, where it is smaller than the index of agents',
}

test('no statement that the gateway runs reads a table whole, and every index is for one of them', async () => {
  const prepare = vi.spyOn(Sqlite.prototype, 'prepare')
  await using gateway = await startGateway()
  await useEverything(gateway)
  await gateway.stop()
  await pruneEverything(gateway.dataDir)
  const texts = new Set(prepare.mock.calls.map(([text]) => text.trim()))
  vi.restoreAllMocks()

  using db = closing(new Sqlite(`${gateway.dataDir}/rouse.db`, { readonly: true }))
  const scans: string[] = []
  const used = new Set<string>()
  for (const text of texts) {
    if (!/^(select|insert|update|delete)\b/i.test(text) || mayScan.some((known) => known.test(text))) continue
    const bind = new Array(text.split('?').length - 1).fill(null)
    const plan = db.raw.prepare(`explain query plan ${text}`).all(...bind) as { detail: string }[]
    const subqueries = new Set(plan.map(({ detail }) => /^(?:CO-ROUTINE|MATERIALIZE) (\w+)$/.exec(detail)?.[1]))
    for (const { detail } of plan) {
      used.add(/USING (?:COVERING )?INDEX (\w+)/.exec(detail)?.[1] ?? '')
      // A subquery's own rows, at most a page or a step of them, and a statement's own values are read whole by intent.
      const scanned = /^SCAN (?!v\b|\(subquery|CONSTANT ROW|\d+ CONSTANT ROWS|\d+-ROW VALUES)(\w+)/.exec(detail)?.[1]
      if (scanned !== undefined && !subqueries.has(scanned)) scans.push(`${detail}: ${text}`)
      if (/TEMP B-TREE FOR ORDER BY/.test(detail) && /from task where/.test(text) && !/where id in/.test(text))
        scans.push(`${detail}: ${text}`)
    }
  }
  expect(texts.size).toBeGreaterThan(50)
  expect(scans).toEqual([])
  const indexes = db.raw
    .prepare(`select name from sqlite_schema where type = 'index' and sql is not null`)
    .pluck()
    .all()
  const unused = (indexes as string[]).filter((name) => !used.has(name) && !(name in mayBeUnused))
  expect(unused).toEqual([])
})

async function useEverything(gateway: TestGateway): Promise<void> {
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna', { aliases: ['d'] })
  const mike = await gateway.addAgent('mike')
  const sub = await gateway.subscribe(donna, receiver.url)
  await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  const task = await gateway.send('donna', 'hello', { key: mike.key, headers: { 'Idempotency-Key': 'k' } })
  await receiver.waitFor(1)
  await gateway.call('POST', `/v1/tasks/${task.id}/artifacts`, { artifact: { parts: [{ text: 'a' }] } }, donna)
  await gateway.move(donna, task.id, 'input-required', { message: 'which?' })
  await gateway.send('donna', 'that', { key: mike.key, message: { taskId: task.id } })
  await gateway.move(donna, task.id, 'completed')
  for (const query of ['', '?state=submitted', '?role=originator', '?role=originator&state=working', '?contextId=x']) {
    for (const key of [donna.key, gateway.adminKey]) {
      const { body } = await gateway.call('GET', `/v1/tasks${query}`, undefined, { key })
      const next = `${query ? `${query}&` : '?'}pageToken=${Buffer.from(`1/${task.id}`).toString('base64url')}`
      await gateway.call('GET', `/v1/tasks${next}`, undefined, { key })
      if (!body.tasks) throw new Error(JSON.stringify(body))
    }
  }
  await useLists(gateway, [donna, mike], task.id)
  await useMail(gateway, donna.key, mike.key)
  await useSessions(gateway, donna, mike)
  await useStream(gateway, donna, mike)
  await useClaims(gateway, donna, mike)
  await useMcp(gateway, donna)
  await gateway.call('POST', '/v1/permissions', { grantee: 'mike', scope: 'CAN_REPLY_TO' }, donna)
  const paths = ['agents', 'agents/donna', 'agents/donna/keys', 'permissions', 'events', `tasks/${task.id}`]
  for (const path of [...paths, 'wake-subscriptions', `wake-subscriptions/${sub.id}/deliveries`, 'catalog']) {
    for (const key of [donna.key, gateway.adminKey]) await gateway.call('GET', `/v1/${path}`, undefined, { key })
  }
  await gateway.call('POST', `/v1/wake-subscriptions/${sub.id}/resync`, { sinceLogId: 0 }, donna)
  await gateway.call('PATCH', `/v1/wake-subscriptions/${sub.id}`, { status: 'paused' }, donna)
  await useKeys(gateway, donna)
  await gateway.call('DELETE', '/v1/agents/donna')
  await gateway.call('DELETE', '/v1/agents/donna?freeNames=true')
}

/** The lists that only A2A has, and the audit of everything, of the default project and of another one. */
async function useLists(gateway: TestGateway, agents: readonly TestAgent[], taskId: string): Promise<void> {
  const filters = [{}, { status: 'TASK_STATE_WORKING' }, { statusTimestampAfter: new Date(0).toISOString() }]
  for (const key of [...agents.map((agent) => agent.key), gateway.adminKey]) {
    for (const params of [...filters, { contextId: 'x' }, { ...filters[1], ...filters[2] }]) {
      const body = { jsonrpc: '2.0', id: 1, method: 'ListTasks', params }
      const answer = await gateway.call('POST', '/agents/donna', body, { key, headers: { 'A2A-Version': '1.0' } })
      if (!answer.body.result) throw new Error(JSON.stringify(answer.body))
    }
  }
  const config = { taskId, url: 'https://hooks.example/push' }
  const push = { jsonrpc: '2.0', id: 1, method: 'CreateTaskPushNotificationConfig', params: config }
  const { body } = await gateway.call('POST', '/agents/donna', push, { headers: { 'A2A-Version': '1.0' } })
  if (!body.result) throw new Error(JSON.stringify(body))
  await gateway.call('POST', '/v1/projects', { project: 'web' })
  for (const [query, project] of [
    ['?project=*', 'default'],
    ['', 'default'],
    ['?actor=@donna&outcome=ok', 'web'],
  ] as const) {
    const headers = { 'Rouse-Project': project }
    const { status } = await gateway.call('GET', `/v1/audit${query}`, undefined, { key: gateway.adminKey, headers })
    if (status !== 200) throw new Error(`audit: ${status}`)
  }
}

async function useMcp(gateway: TestGateway, donna: TestAgent): Promise<void> {
  const session = await beginSession(gateway, donna)
  const uri = 'rouse://inbox/@donna'
  for (const [method, params] of [
    ['resources/subscribe', { uri }],
    ['resources/unsubscribe', { uri }],
    ['logging/setLevel', { level: 'info' }],
  ] as const) {
    await post(gateway, donna, { ...ping, method, params }, session)
  }
  await using stream = await openStream(gateway, donna, session)
  if (stream.status !== 200) throw new Error(`useMcp: ${stream.status}`)
  await gateway.call('DELETE', '/mcp', undefined, { key: donna.key, headers: session })
}

async function useKeys(gateway: TestGateway, donna: TestAgent): Promise<void> {
  const { body: key } = await gateway.call('POST', '/v1/agents/donna/keys', { expiresInSeconds: 60 }, donna)
  await gateway.call('POST', '/v1/sessions', { surface: 'codex' }, { key: key.apiKey })
  await gateway.call('DELETE', `/v1/agents/donna/keys/${key.keyId}?minted=true`)
  const { body: next } = await gateway.call('POST', '/v1/agents/donna/keys', {}, donna)
  await gateway.call('DELETE', `/v1/agents/donna/keys/${next.keyId}?keep=true`)
  const grant = { grantee: 'mike', scope: 'CAN_MANAGE_SUBSCRIPTIONS_OF' }
  const { body: granted } = await gateway.call('POST', '/v1/permissions', grant, donna)
  await gateway.call('DELETE', `/v1/permissions/${granted.permissionId}`, undefined, donna)
  const { body: operator } = await gateway.call('POST', '/v1/operator-keys', { role: 'viewer' })
  await gateway.call('GET', '/v1/operator-keys', undefined, { key: operator.operatorKey })
  await gateway.call('GET', '/v1/operator-keys')
  await gateway.call('DELETE', `/v1/operator-keys/${operator.keyId}?minted=true`)
}

async function useClaims(gateway: TestGateway, donna: TestAgent, mike: TestAgent): Promise<void> {
  const claims = (method: string, path: string, agent: TestAgent, body?: object) =>
    gateway.call(method, `/v1/claims${path}`, body, agent)
  await claims('POST', '', donna, { ref: 'issue-7' })
  await claims('POST', '', mike, { ref: 'issue-7' })
  await claims('POST', '/handoff', donna, { ref: 'issue-7', to: '@mike', message: 'Yours.' })
  await claims('POST', '', mike, { ref: 'issue-7' })
  for (const query of ['', '?ref=issue-7', '?owner=@mike', '?pageToken=a']) await claims('GET', query, donna)
  await claims('DELETE', '', mike, { ref: 'issue-7' })
  await gateway.call('PATCH', '/v1/projects/default', { limits: { claims: 1 } })
  for (const ref of ['issue-8', 'issue-9']) await claims('POST', '', mike, { ref })
  await gateway.call('POST', '/v1/projects', { project: 'web' })
  await gateway.call('GET', '/v1/projects')
  for (const to of ['dona', 'has-telegram', 's0f1e2d', 'web:*', '*']) {
    await gateway.call('POST', '/v1/messages', { to, subject: 'Hello' }, mike)
  }
  await gateway.call('GET', '/v1/permissions?scope=CAN_REPLY_TO&grantor=donna', undefined, mike)
}

async function useSessions(gateway: TestGateway, donna: TestAgent, mike: TestAgent): Promise<void> {
  const surface = { surface: 'codex', pid: 1, startedAt: new Date(0).toISOString() }
  await gateway.call('POST', '/v1/sessions', surface, mike)
  await gateway.call('POST', '/v1/sessions', surface, donna)
  const { body } = await gateway.call('POST', '/v1/sessions', { surface: 'cursor' }, donna)
  const { sessionId } = body
  const input = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon', sessionId }
  const { body: sub } = await gateway.call('POST', '/v1/wake-subscriptions', input, donna)
  for (const wakePolicy of ['silent', 'immediate'])
    await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'held', wakePolicy })
  await gateway.call('PUT', `/v1/sessions/${sessionId}`, { presence: { state: 'idle', source: 'unknown' } }, donna)
  await gateway.call('PUT', '/v1/presence', { state: 'idle', source: 'unknown' }, donna)
  for (const key of [donna.key, gateway.adminKey]) {
    for (const path of ['sessions', 'sessions?status=ended', `sessions/${sessionId}`])
      await gateway.call('GET', `/v1/${path}`, undefined, { key })
    await gateway.call('GET', `/v1/wake-subscriptions/${sub.subscriptionId}/held`, undefined, { key })
  }
  await gateway.call('POST', `/v1/wake-subscriptions/${sub.subscriptionId}/resync`, { sinceLogId: 0 }, donna)
  await gateway.call('DELETE', `/v1/sessions/${sessionId}`, undefined, donna)
}

async function useStream(gateway: TestGateway, donna: TestAgent, mike: TestAgent): Promise<void> {
  const say = (state: string) => gateway.call('PUT', '/v1/presence', { state, source: 'bridge-daemon' }, donna)
  await gateway.call('POST', '/v1/sessions', { surface: 'codex' }, donna)
  const input = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon' }
  const { body: sub } = await gateway.call('POST', '/v1/wake-subscriptions', input, donna)
  await using reader = await readWakes(gateway, donna, [sub.subscriptionId], ['turn/start'])
  await say('active')
  const { body: mail } = await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'held' }, mike)
  await say('idle')
  const [wake] = await reader.waitFor(1)
  for (const step of ['held', 'turn_started', 'unknown']) await reader.report(wake!.eventId, step)
  await gateway.call('GET', `/v1/messages/${mail.messageId}`, undefined, mike)
  await gateway.call('GET', `/v1/wake-subscriptions/${sub.subscriptionId}/deliveries`, undefined, donna)
}

async function useMail(gateway: TestGateway, donna: string, mike: string): Promise<void> {
  const headers = { 'Idempotency-Key': 'k' }
  const send = async (key: string, body: object, rest = {}) =>
    (await gateway.call('POST', '/v1/messages', body, { key, ...rest })).body
  const { messageId } = await send(donna, { to: '@mike', subject: 'a', signalType: 'x', type: 'question' }, { headers })
  await send(donna, { to: '@mike', subject: 'a' }, { headers })
  await send(mike, { inReplyTo: messageId, body: 'b' })
  await send(donna, { to: '*', subject: 'c' })
  for (const status of ['seen', 'acked', 'resolved'])
    await gateway.call('POST', `/v1/messages/${messageId}/status`, { status }, { key: mike })
  const since = new Date(0).toISOString()
  const queries = [
    '',
    'unread=true',
    `thread=${messageId}`,
    'signalType=x',
    'type=msg',
    'type=question',
    `since=${since}`,
  ]
  for (const query of [...queries, `thread=${messageId}&unread=true`, `signalType=x&since=${since}`]) {
    for (const order of ['oldest', 'newest'])
      await gateway.call('GET', `/v1/inbox?${query}&order=${order}`, undefined, { key: mike })
  }
  const session = { surface: 'cursor', drain: false }
  const { sessionId } = (await gateway.call('POST', '/v1/sessions', session, { key: mike })).body
  await gateway.call('POST', '/v1/inbox/returns', { sessionId, messageIds: [messageId] }, { key: mike })
  for (const key of [donna, mike, gateway.adminKey]) {
    for (const path of ['messages', `messages/${messageId}`, `threads/${messageId}`])
      await gateway.call('GET', `/v1/${path}`, undefined, { key })
  }
}

async function pruneEverything(dataDir: string): Promise<void> {
  await using db = SqliteDatabase.open(dataDir, systemClock)
  const { signal } = new AbortController()
  const tomorrow = Date.now() + 86_400_000
  expect(await pruneEvents(db, tomorrow, signal)).toBeGreaterThan(0)
  await pruneDeliveries(db, tomorrow, signal)
  await pruneIdempotencyKeys(db, tomorrow, signal)
  await pruneHeld(db, tomorrow, signal)
  await missedEdgeSweep({ db, clock: systemClock, changed() {} }).run(signal)
  await sweepSessions(db)
  await pruneMessages(db, tomorrow, 1, signal)
}

async function sweepSessions(db: Database): Promise<void> {
  const clock = { ...systemClock, now: () => Date.now() + 40 * 86_400_000 }
  const nothing = async () => []
  const context = {
    db,
    clock,
    log: silentLogger,
    append: nothing,
    timeoutMs: 1,
    drain: nothing,
    hasWaiting: async () => false,
    announce: async () => {},
    changed: () => {},
  }
  expect(await endSilentSessions(context)).toBeGreaterThan(0)
}

function closing(raw: Sqlite.Database): Disposable & { readonly raw: Sqlite.Database } {
  return { raw, [Symbol.dispose]: () => void raw.close() }
}
