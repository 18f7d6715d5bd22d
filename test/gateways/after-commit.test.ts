import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { databaseUrlFor, runSql } from '../support/store.ts'
import { until } from '../support/until.ts'
import { encryptionKey } from './two-gateways.ts'

const role = `rouse_${randomBytes(4).toString('hex')}`
const storeOf = randomBytes(8).toString('hex')
let url: string
let gateway: TestGateway
let donna: TestAgent

/** The database takes all connections but the one that commits. */
const breakReads = `create function break_reads() returns trigger language plpgsql security definer as $$ begin
  perform pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = '${role}' and pid <> pg_backend_pid();
  return null;
end $$`

beforeEach(async () => {
  url = (await databaseUrlFor(storeOf + randomBytes(4).toString('hex'))) as string
  // Its schema is made by one that may.
  await (await startOn(url)).stop()
  const schema = new URL(url).searchParams.get('options')!.split('=')[1]
  await runSql(url, `create role ${role} login password 'secret'`)
  await runSql(url, `grant usage on schema ${schema} to ${role}`)
  await runSql(url, `grant all on all tables in schema ${schema} to ${role}`)
  await runSql(url, `grant all on all sequences in schema ${schema} to ${role}`)
  await runSql(url, breakReads)
  const line = new URL(url)
  line.username = role
  line.password = 'secret'
  gateway = await startOn(line.href)
  donna = await gateway.addAgent('donna')
})

afterEach(async () => {
  await gateway[Symbol.asyncDispose]()
  await runSql(url, `drop owned by ${role}`)
  await runSql(url, `drop role ${role}`)
})

const startOn = (databaseUrl: string) =>
  startGateway({ env: { ROUSE_DATABASE_URL: databaseUrl, ROUSE_ENCRYPTION_KEY: encryptionKey } })

/**
 * Makes a call while the database gives no new connection. Once the call has written a row of a table, the gateway has only the connection that
 * commits it: it can write, and not read. Afterwards it can connect again.
 */
async function callBroken<T>(table: string, call: () => Promise<T>): Promise<T> {
  // So many reading connections are open as the call may need.
  await Promise.all(Array.from({ length: 16 }, () => gateway.call('GET', '/v1/agents', undefined, donna)))
  await runSql(url, `alter role ${role} connection limit 0`)
  await runSql(url, `create trigger break_reads after insert or update on ${table} execute function break_reads()`)
  const answer = await call()
  await runSql(url, `drop trigger break_reads on ${table}`)
  await runSql(url, `alter role ${role} connection limit -1`)
  await until(
    () => gateway.call('GET', '/v1/whoami'),
    ({ status }) => status === 200,
  )
  return answer
}

const uncertain = {
  status: 503,
  body: { code: 'storage-unavailable', uncertain: true, detail: expect.stringMatching(/^This was stored, but /) },
}

test('an artifact with an Idempotency-Key is appended once, and its repeat is refused', async () => {
  const task = await gateway.send('donna', 'hello')
  await gateway.move(donna, task.id, 'working')
  const artifact = { artifactId: 'a', parts: [{ text: 'one' }] }
  const path = `/v1/tasks/${task.id}/artifacts`
  await gateway.call('POST', path, { artifact }, donna)
  const append = () =>
    gateway.call('POST', path, { artifact, append: true }, { key: donna.key, headers: { 'Idempotency-Key': 'once' } })
  expect(await callBroken('task_chunk', append)).toMatchObject(uncertain)
  expect((await append()).body).toMatchObject({ status: 409, code: 'idempotency-begun' })
  const { body } = await gateway.call('GET', `/v1/tasks/${task.id}`, undefined, donna)
  expect(body.artifacts[0].parts).toHaveLength(2)
})

test('mail that was stored is never said to be not stored; with an Idempotency-Key its repeat is the first one', async () => {
  const send = () =>
    gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'a' }, { headers: { 'Idempotency-Key': 'once' } })
  expect(await callBroken('message', send)).toMatchObject(uncertain)
  const unkeyed = () => gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'b' })
  expect(await callBroken('message', unkeyed)).toMatchObject(uncertain)
  expect((await send()).status).toBe(201)
  expect((await gateway.call('GET', '/v1/inbox', undefined, donna)).body.messages).toHaveLength(2)
})

test('a call whose first read fails has stored nothing, and says so', async () => {
  const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
  const input = { name: 'mail.received', url: 'https://127.0.0.1:9/', secret }
  const subscribe = () =>
    gateway.call('POST', '/v1/event-subscriptions', input, { key: donna.key, headers: { 'Idempotency-Key': 'once' } })
  const { status, body } = await callBroken('idempotency_key', subscribe)
  expect([status, body.uncertain, body.detail]).toEqual([503, undefined, expect.stringContaining('Nothing was stored')])
})

test('over A2A too: a message to a task, the cancellation of one, a message that is streamed', async () => {
  const call = (method: string, params: object) =>
    gateway.call(
      'POST',
      '/agents/donna',
      { jsonrpc: '2.0', id: 1, method, params },
      { headers: { 'A2A-Version': '1.0' } },
    )
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] }
  const { id } = await gateway.send('donna', 'hello')
  const answers = [
    await callBroken('task', () =>
      call('SendMessage', { message: { ...message, taskId: id }, configuration: { returnImmediately: true } }),
    ),
    await callBroken('task', () => call('CancelTask', { id })),
    await callBroken('task', () => call('SendStreamingMessage', { message })),
  ]
  for (const { body } of answers) {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    expect(text).toContain('This was stored, but the store failed')
  }
})
