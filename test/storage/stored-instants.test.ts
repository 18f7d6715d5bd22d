import { expect, test } from 'vitest'
import { waitedInstants } from '../../src/storage/waited-instants.ts'
import { eventsEnv, secret, startCallback } from '../fronts/mcp/events/rpc.ts'
import { beginSession } from '../fronts/mcp/http/wire.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { SetClock } from '../support/set-clock.ts'
import { besideStore, onPostgres } from '../support/store.ts'
import { until } from '../support/until.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Stored instants that something waits for, and where one that is too late is not believed. */
const boundedWhereRead: Readonly<Record<string, string>> = {
  'bucket.counted_at': 'bucket.ts: a bucket that was counted far ahead of now begins to empty now',
  'bucket.refused_at': 'bucket.ts: a refusal in the future is none',
  'subscription.due_at': 'lease-store.ts: brought forward when the clock was set back',
  'subscription.probe_at': 'probe-store.ts: a probe later than any can be is due',
  'delivery.next_attempt_at': 'retry-wait.ts: a wait longer than any is none',
  'task.status_at': 'task-claims.ts: a change of state far ahead of now is no sign of life',
}
/** Stored instants that nothing waits for: when something happened, or an end that a caller has named. */
const facts = new Set(
  `agent.created_at agent.updated_at approval.asked_at approval.closed_at api_key.created_at api_key.revoked_at api_key.expires_at api_key.last_used_at audit.at audit.last_at
  claim.claimed_at follower.created_at follower.delivered_at follower.cancelled_at delivery.created_at delivery.updated_at event.created_at gateway.started_at held_wake.created_at mcp_session.created_at
  message.created_at message_recipient.updated_at message_recipient.delivered_at message_recipient.seen_at message_recipient.acked_at
  message_recipient.ended_at operator_key.expires_at operator_key.last_used_at operator_key.created_at operator_key.revoked_at
  gate.since permission.created_at recovery.begun_at recovery.parked_since project.created_at replay.requested_at reserved_name.created_at revoked_token.expires_at
  session.process_started_at session.created_at session.ended_at shared_secret.created_at subscription.generation_at
  subscription.created_at subscription.updated_at task.expires_at task.created_at task.updated_at
  task_chunk.created_at task_message.created_at schema_migration.applied_at turn.started_at turn.ended_at`.split(/\s+/),
)
/** Numbers that are no instants. */
const numbers = new Set(
  `agent.version approval.input_size audit.count operator_key.approves bucket.level_ms delivery.from_log_id delivery.to_log_id delivery.event_count event.log_id event_audience.log_id
  need.is_open
  held_wake.log_id held_wake.released message.task_seq message.broadcast message.recipient_count message_recipient.pending project.log_head
  project.log_tail replay.log_id session.pid subscription.coalesce_ms subscription.failed_in_a_row subscription.cursor_log_id
  subscription.last_emitted_log_id subscription.claimed_to_log_id subscription.generation subscription.resynced_generation subscription.resume_with_digest
  recovery.abandoned recovery.deferrals recovery.epoch recovery.parked_open session.context_tokens
  subscription.failing_cursor_log_id subscription.failing_emitted_log_id subscription.announces_waiting subscription.announces_held subscription.has_gap
  task.version task.status_message_seq task.message_count task.chunk_count task.size task.first_size task_chunk.seq task_chunk.append
  task_chunk.last_chunk task_chunk.size task_count.total task_message.seq task_message.size usage.bytes
  schema_migration.version turn.from_log_id turn.to_log_id`.split(/\s+/),
)

const wholeNumbers = onPostgres
  ? `select table_name || '.' || column_name as name from information_schema.columns
      where table_schema = current_schema() and data_type in ('bigint', 'integer', 'smallint')`
  : `select m.name || '.' || c.name as name from sqlite_schema m, pragma_table_info(m.name) c
      where m.type = 'table' and m.name not like 'sqlite%' and lower(c.type) like '%int%'`

test('every whole number of the schema is an instant that is waited for, one that is not, or none', async () => {
  await using gateway = await startGateway()
  const found = (await besideStore(gateway.dataDir, wholeNumbers)).map(({ name }) => String(name))
  const known = [...Object.keys(waitedInstants), ...Object.keys(boundedWhereRead), ...facts, ...numbers]
  expect(found.filter((name) => !known.includes(name))).toEqual([])
  expect(known.filter((name) => !found.includes(name))).toEqual([])
  expect(known.length).toBe(new Set(known).size)
})

/** Rows in every table with an instant that is waited for. */
async function fill(gateway: TestGateway) {
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  const { id } = await gateway.subscribe(donna, receiver.url)
  await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  await gateway.call('DELETE', `/v1/wake-subscriptions/${id}`, undefined, donna)
  await using callback = await startCallback()
  const choice = { name: 'mail.received', url: callback.url, secret }
  await gateway.call('POST', '/v1/event-subscriptions', choice, donna)
  await gateway.call('POST', '/v1/sessions', { surface: 'cursor' }, donna)
  await gateway.call('POST', '/v1/claims', { ref: 'a' }, donna)
  await gateway.call('POST', '/v1/followers', {}, donna)
  const asked = { harness: 'claude', conversationId: 'c', kind: 'permission', tool: 'Bash', input: {} }
  await gateway.call('POST', '/v1/approvals', { ...asked, nonce: 'n', expiresInSeconds: 86_400 }, donna)
  await beginSession(gateway, donna)
  await gateway.call(
    'PUT',
    '/v1/recovery/bridge',
    { startedAt: new Date().toISOString(), starts: 1, restart: 'none', seen: false },
    donna,
  )
  await gateway.call('PUT', '/v1/parked', { until: null, reason: 'spend-cap' }, donna)
  await gateway.call('POST', '/v1/sign-in-codes')
  const mail = await gateway.call('POST', '/v1/messages', { to: '@operator', subject: 'x' }, donna)
  const snooze = { need: mail.body.messageId, until: '2026-04-27T10:00:00.000Z' }
  await gateway.call('POST', '/v1/needs/snooze', snooze)
  await besideStore(
    gateway.dataDir,
    'update recovery set since = bridge_at, deadline_at = bridge_at, pulsed_at = bridge_at',
  )
  const headers = { 'Idempotency-Key': 'k' }
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'x' }, { key: lola.key, headers })
  return { donna, lola }
}

const rowsOf = async (dataDir: string, name: string) => {
  const [table, column] = name.split('.')
  const rows = await besideStore(dataDir, `select ${column} as at from ${table} where ${column} is not null`)
  return rows.map(({ at }) => Number(at))
}

test.each([
  ['an hour', hourMs],
  ['400 days', 400 * dayMs],
])('no instant is later than its window allows when the clock was ahead by %s', async (_, aheadMs) => {
  const clock = new SetClock()
  await using gateway = await startGateway({ env: eventsEnv, overrides: { clock } })
  await fill(gateway)
  // A store that one gateway alone uses has no such rows.
  const empty = onPostgres ? [] : ['gateway.seen_at', 'sweep.until']
  const names = Object.keys(waitedInstants) as (keyof typeof waitedInstants)[]
  for (const name of names) {
    const [table, column] = name.split('.')
    if (name === 'session.presence_at')
      await besideStore(gateway.dataDir, 'update session set presence_at = last_seen_at')
    await besideStore(
      gateway.dataDir,
      `update ${table} set ${column} = ? where ${column} is not null`,
      clock.now() + aheadMs,
    )
    if (!empty.includes(name) && name !== 'sweep.until')
      expect(await rowsOf(gateway.dataDir, name), name).not.toEqual([])
  }
  clock.set(-60_000)
  const late = async () => {
    // The gateway looks every 5 s. Each look of the test asks PostgreSQL over new connections: many looks take longer than it waits.
    clock.steady.advance(6_000)
    const found: string[] = []
    for (const name of names) {
      const latest = clock.now() + waitedInstants[name]
      if ((await rowsOf(gateway.dataDir, name)).some((at) => at > latest)) found.push(name)
    }
    return found
  }
  expect(await until(late, (found) => found.length === 0)).toEqual([])
})

const ahead = [hourMs, 400 * dayMs] as const

/** A gateway under a clock that is ahead until `setBack`, which also starts it again. */
async function startAhead(aheadMs: number, restarts: boolean, env: Record<string, string> = {}) {
  const clock = new SetClock()
  clock.set(aheadMs)
  let gateway = await startGateway({ env, overrides: { clock } })
  const first = gateway
  return {
    clock,
    get gateway() {
      return gateway
    },
    async setBack() {
      if (restarts) await gateway.stop()
      clock.set(-aheadMs)
      if (restarts) gateway = await startGateway({ env, dataDir: first.dataDir, overrides: { clock } })
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      if (gateway !== first) await first[Symbol.asyncDispose]()
    },
  }
}
const cases = ahead.flatMap((aheadMs) => [true, false].map((restarts) => ({ aheadMs, restarts })))

// The attack: one message under a clock that was ahead silenced its sender for as long.
test.each(cases)('who sent a message while the clock was ahead sends on when it is right: %o', async (one) => {
  await using s = await startAhead(one.aheadMs, one.restarts, { ROUSE_MESSAGES_PER_MINUTE: '5' })
  const { lola } = await fill(s.gateway)
  await s.setBack()
  const mail = () => s.gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'x' }, lola)
  for (let n = 0; n < 2; n++) {
    expect((await mail()).status).toBe(201)
    expect((await s.gateway.send('donna', 'x', lola)).id).toBeDefined()
  }
  const refused = await mail()
  expect(refused.body).toMatchObject({ code: 'rate-limited', retryAfterSeconds: 12 })
  expect(refused.body.detail).toContain('Wait 12 s')
  await expect(s.gateway.send('donna', 'x', lola)).rejects.toThrow('Wait 12 s')
  s.clock.steady.advance(12_000)
  expect((await mail()).status).toBe(201)
})

test.each(cases)('a claim and a session from while the clock was ahead end in their time: %o', async (one) => {
  await using s = await startAhead(one.aheadMs, one.restarts)
  const { donna, lola } = await fill(s.gateway)
  await s.setBack()
  const state = async () => {
    s.clock.steady.advance(5_000)
    return (await besideStore(s.gateway.dataDir, 'select last_seen_at as at from session')).map(({ at }) => Number(at))
  }
  await until(state, (seen) => seen.every((at) => at <= s.clock.now() + 10_000))
  expect((await s.gateway.call('POST', '/v1/claims', { ref: 'a' }, lola)).status).toBe(409)
  await until(
    async () => {
      s.clock.steady.advance(60_000)
      return (await s.gateway.call('GET', '/v1/agents/donna', undefined, lola)).body.session
    },
    (session) => session === null,
  )
  s.clock.steady.advance(6 * hourMs)
  expect((await s.gateway.call('POST', '/v1/claims', { ref: 'a' }, lola)).body).toMatchObject({ outcome: 'taken_over' })
  expect(donna.handle).toBe('@donna')
})
