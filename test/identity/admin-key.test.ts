import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { run } from '../cli/terminal.ts'
import { toolCall } from '../fronts/mcp/http/call-tool.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { openEventStream } from '../support/event-stream.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { halfSent } from '../support/half-sent.ts'
import { onPostgres, storeEnv } from '../support/store.ts'
import { until } from '../support/until.ts'

/** The time until an ended key is refused, in ms. */
const withinMs = 1_000

async function rotate(gateway: TestGateway, ...flags: string[]) {
  const env = { ROUSE_DATA_DIR: gateway.dataDir, ...(await storeEnv(gateway.dataDir)) }
  const result = await run(['admin-key', 'rotate', ...flags], env)
  expect(result.code, result.stderr).toBe(0)
  const key = readFileSync(join(gateway.dataDir, 'admin.key'), 'utf8').trim()
  expect(result.stdout + result.stderr).not.toContain(key)
  return key
}

const statusWith = async (gateway: TestGateway, key: string) =>
  (await gateway.call('GET', '/v1/agents', undefined, { key })).status

test('a running gateway accepts the new admin key at once, and the old one until the overlap is over', async () => {
  const clock = new FakeClock(Date.now())
  await using gateway = await startGateway({ overrides: { clock } })
  const old = gateway.adminKey
  const key = await rotate(gateway, '--overlap', '3600')
  expect(key).toMatch(/^rk_[\w-]{43}$/)
  expect(key).not.toBe(old)
  expect(await statusWith(gateway, key)).toBe(200)
  expect(await statusWith(gateway, old)).toBe(200)
  clock.advance(3_700_000)
  await until(
    () => statusWith(gateway, old),
    (status) => status === 401,
  )
  expect(await statusWith(gateway, key)).toBe(200)
  expect(statSync(join(gateway.dataDir, 'admin.key')).mode & 0o777).toBe(0o600)
})

test('a key that has leaked ends within a second, without an overlap', async () => {
  const clock = new FakeClock(Date.now())
  await using gateway = await startGateway({ overrides: { clock } })
  const old = gateway.adminKey
  const key = await rotate(gateway, '--overlap', '0')
  clock.advance(withinMs)
  await until(
    () => statusWith(gateway, old),
    (status) => status === 401,
  )
  expect(await statusWith(gateway, key)).toBe(200)
})

test('open streams of an ended admin key end within a second, and can be opened with the new one', async () => {
  const clock = new FakeClock(Date.now())
  await using gateway = await startGateway({ overrides: { clock } })
  const open = (key: string) => openEventStream(`${gateway.url}/v1/events?since=0`, { authorization: `Bearer ${key}` })
  await gateway.addAgent('donna')
  await using stream = await open(gateway.adminKey)
  await stream.take(1)
  const key = await rotate(gateway, '--overlap', '0')
  expect(await statusWith(gateway, key)).toBe(200)
  clock.advance(withinMs)
  // The list ends: a larger request returns no more.
  await stream.take(1_000)
  await using again = await open(key)
  expect(again.status).toBe(200)
  expect(await again.take(1)).toHaveLength(1)
})

test('a request with an ended admin key does nothing, although its body began to arrive before', async () => {
  const clock = new FakeClock(Date.now())
  await using gateway = await startGateway({ overrides: { clock } })
  const old = gateway.adminKey
  await gateway.addAgent('donna')
  const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'late' }] }
  const call = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }
  const tool = toolCall('send_message', { to: '@donna', subject: 'late' })
  using made = await halfSent(gateway, '/v1/operator-keys', old, { role: 'admin', label: 'survives' })
  using sent = await halfSent(gateway, '/agents/donna', old, call, { 'a2a-version': '1.0' })
  using called = await halfSent(gateway, '/mcp', old, tool.body, tool.headers)
  const key = await rotate(gateway, '--overlap', '0')
  clock.advance(withinMs)
  await until(
    () => statusWith(gateway, old),
    (status) => status === 401,
  )
  for (const request of [made, sent, called]) expect(await request.finish('revoked')).toContain('HTTP/1.1 401')
  const { body: list } = await gateway.call('GET', '/v1/operator-keys', undefined, { key })
  expect(JSON.stringify(list)).not.toContain('survives')
  const { body: tasks } = await gateway.call('GET', '/v1/tasks', undefined, { key })
  expect(tasks.totalSize).toBe(0)
  const { body: inbox } = await gateway.call('GET', '/v1/inbox?agent=@donna', undefined, { key })
  expect(inbox.messages).toEqual([])
})

test('after two rotations each former key has an end, none after that of the last rotation, also after a restart', async () => {
  const clock = new FakeClock(Date.now())
  const first = await startGateway({ overrides: { clock } })
  const keys = [first.adminKey, await rotate(first, '--overlap', '600'), await rotate(first, '--overlap', '7200')]
  await first.stop()
  await using second = await startGateway({ dataDir: first.dataDir, overrides: { clock } })
  for (const key of keys) expect(await statusWith(second, key)).toBe(200)
  clock.advance(700_000)
  const statuses = () => Promise.all(keys.map((key) => statusWith(second, key)))
  expect(await until(statuses, ([oldest]) => oldest === 401)).toEqual([401, 200, 200])
  keys.push(await rotate(second, '--overlap', '60'))
  expect(await statusWith(second, keys[3]!)).toBe(200)
  clock.advance(61_000)
  expect(await until(statuses, ([, , last]) => last === 401)).toEqual([401, 401, 401, 200])
})

test('a former key that has leaked ends within a second too, without an overlap', async () => {
  const clock = new FakeClock(Date.now())
  await using gateway = await startGateway({ overrides: { clock } })
  const old = [gateway.adminKey, await rotate(gateway)]
  for (const key of old) expect(await statusWith(gateway, key)).toBe(200)
  const key = await rotate(gateway, '--overlap', '0')
  clock.advance(withinMs)
  await until(
    () => Promise.all(old.map((key) => statusWith(gateway, key))),
    (statuses) => statuses.every((status) => status === 401),
  )
  expect(await statusWith(gateway, key)).toBe(200)
})

test.each([['admin-key', 'rotate', '--overlap', '0'], ['card-key', 'rotate', '--now', '--keep-days', '0'], ['rekey']])(
  '%s changes nothing in a data directory whose gateway has another store, and names the remedy',
  async (...command) => {
    await using gateway = await startGateway()
    // As it is beside PostgreSQL, and as a move there leaves it.
    const store = join(gateway.dataDir, 'rouse.db')
    const aside = `${store}.aside`
    const migrated = join(gateway.dataDir, 'migrated')
    if (!onPostgres) renameSync(store, aside)
    const before = keysIn(gateway.dataDir)
    const attempt = () => run(command, { ROUSE_DATA_DIR: gateway.dataDir })
    const absent = await attempt()
    writeFileSync(store, '', { mode: 0o600 })
    writeFileSync(migrated, '127.0.0.1/rouse 2026-01-01T00:00:00.000Z\n', { mode: 0o600 })
    const copied = await attempt()
    rmSync(store)
    rmSync(migrated)
    if (!onPostgres) renameSync(aside, store)
    for (const { code, stdout, stderr } of [absent, copied]) {
      expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(/set ROUSE_DATABASE_URL/i)])
    }
    expect(keysIn(gateway.dataDir)).toEqual(before)
    expect(await statusWith(gateway, gateway.adminKey)).toBe(200)
  },
)

function keysIn(directory: string): [string, string][] {
  const names = readdirSync(directory).filter((name) => /key|jwk|^audit-waiting$/.test(name))
  return names.sort().map((name) => [name, readFileSync(join(directory, name), 'utf8')])
}

if (onPostgres) {
  test('a key that cannot be written to admin.key is recorded, and printed', async () => {
    const clock = new FakeClock(Date.now())
    await using gateway = await startGateway({ overrides: { clock } })
    const file = join(gateway.dataDir, 'admin.key')
    rmSync(file)
    mkdirSync(file, { mode: 0o700 })
    const env = { ROUSE_DATA_DIR: gateway.dataDir, ...(await storeEnv(gateway.dataDir)) }
    const { code, stdout, stderr } = await run(['admin-key', 'rotate', '--overlap', '0'], env)
    expect([code, stderr]).toEqual([1, expect.stringContaining(`${file} could not be written`)])
    const key = stdout.trim()
    expect(await statusWith(gateway, key)).toBe(200)
    const { body } = await gateway.call('GET', '/v1/audit', undefined, { key })
    expect(body.records).toContainEqual(expect.objectContaining({ operation: 'adminKey.rotate', outcome: 'ok' }))
  })
}

test('configured keys are a list: each is accepted, and the generated key is not', async () => {
  const keys = ['the-new-key-of-the-operator', 'the-old-key-of-the-operator']
  await using gateway = await startGateway({ env: { ROUSE_ADMIN_KEY: keys.join(' ') } })
  for (const key of keys) expect(await statusWith(gateway, key)).toBe(200)
  expect(await statusWith(gateway, keys.join(' '))).toBe(401)
  const env = { ROUSE_DATA_DIR: gateway.dataDir, ROUSE_ADMIN_KEY: keys.join(' ') }
  expect(await run(['admin-key', 'rotate'], env)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('put a new one first in it'),
  })
})

test('where no gateway has been, there is no key to rotate', async () => {
  expect(await run(['admin-key', 'rotate'], { ROUSE_DATA_DIR: '/nonexistent' })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('There is no store in /nonexistent'),
  })
  using directory = dataDirectory()
  const env = { ROUSE_DATA_DIR: directory.path, ROUSE_ENCRYPTION_KEY: Buffer.alloc(32).toString('base64') }
  const result = await run(['admin-key', 'rotate'], { ...env, ...(await storeEnv(directory.path)) })
  expect([result.code, result.stderr]).toEqual([1, expect.stringContaining('No admin key is kept here yet')])
})
