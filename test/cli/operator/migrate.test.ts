import { createHmac, randomBytes } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { dataDirectory } from '../../support/data-directory.ts'
import { emptyPostgres } from '../../support/empty-postgres.ts'
import { startGateway } from '../../support/gateway.ts'
import { type ReceivedWake, startReceiver } from '../../support/receiver.ts'
import { runSql } from '../../support/store.ts'
import { run } from '../terminal.ts'

const embedded = {
  ROUSE_DATABASE_URL: '',
  ROUSE_PUBLIC_URL: 'https://rouse.example',
  ROUSE_WEBHOOK_ALLOW: '127.0.0.0/8',
}
const migrate = ['migrate', '--from', 'sqlite', '--to', 'postgres']

/** The wakes that a receiver took, without those that it refused and got again. */
function taken(wakes: readonly ReceivedWake[]) {
  return [...new Map(wakes.map(({ body }) => [body.eventId, body])).values()]
}

test('a gateway moves to PostgreSQL, and its agents, peers and receivers do not notice', async () => {
  using old = dataDirectory()
  using fresh = dataDirectory()
  await using empty = await emptyPostgres()
  await using receiver = await startReceiver()

  const before = await startGateway({ dataDir: old.path, env: embedded })
  const donna = await before.addAgent('donna')
  const felix = await before.addAgent('felix')
  const { id, signingKey } = await before.subscribe(donna, receiver.url, {
    harnessTargetMetadata: { includeOwn: true },
  })
  const tasks = [await before.send('@donna', 'one'), await before.send('@donna', 'two')]
  await receiver.waitFor(2)
  receiver.respond(503)
  tasks.push(await before.send('@donna', 'three'), await before.send('@donna', 'four'))
  await receiver.waitFor(3)
  const mail = await before.call('POST', '/v1/messages', { to: '@donna', subject: 'Hello', body: 'Moved?' }, felix)
  const jwks = await before.call('GET', '/.well-known/jwks.json', undefined, { key: null })
  await before.stop()
  const refused = receiver.wakes[2]!.body

  const env = { ROUSE_DATA_DIR: old.path, ROUSE_DATABASE_URL: empty.url }
  const { code, stdout, stderr } = await run(migrate, env, { errorColumns: 80 })
  expect(code, stderr).toBe(0)
  const total = /Copied and counted: ([\d,]+) rows/.exec(stdout)?.[1]
  expect(stderr).toMatch(new RegExp(`\r\u001b\\[K[\\d,]+ of ${total} rows.*\r\u001b\\[K$`))
  expect(stdout).toMatch(/the log of default ends at \d+/)
  expect(stdout).toContain(join(old.path, 'encryption.key'))

  receiver.respond(200)
  const encryptionKey = readFileSync(join(old.path, 'encryption.key'), 'utf8').trim()
  const moved = { ...embedded, ROUSE_DATABASE_URL: empty.url, ROUSE_ENCRYPTION_KEY: encryptionKey }
  await using after = await startGateway({ dataDir: fresh.path, env: moved })
  expect(after.adminKey).toBe(before.adminKey)
  expect((await after.call('GET', '/.well-known/jwks.json', undefined, { key: null })).body).toEqual(jwks.body)
  tasks.push(await after.send('@donna', 'five'))
  for (const { id: taskId } of tasks) {
    expect((await after.move(donna, taskId, 'working')).body).toMatchObject({ id: taskId, state: 'working' })
  }
  const inbox = await after.call('GET', '/v1/inbox', undefined, donna)
  expect(inbox.body.messages).toContainEqual(
    expect.objectContaining({ messageId: mail.body.messageId, subject: 'Hello' }),
  )

  // Five tasks submitted, five moved.
  await receiver.waitFor(receiver.wakes.filter(({ body }) => body.eventId === refused.eventId).length + 1)
  const { body: log } = await after.call('GET', '/v1/events?since=0&limit=1000')
  const ofTasks = log.events.filter(({ type }: { type: string }) => type.startsWith('task')).length
  await receiver.waitFor(ofTasks)
  const wakes = taken(receiver.wakes)
  expect(wakes.map(({ eventId }) => eventId)).toContain(refused.eventId)
  expect(wakes.map(({ prevLogId }) => prevLogId)).toEqual([null, ...wakes.slice(0, -1).map(({ logId }) => logId)])
  for (const { raw, headers } of receiver.wakes) {
    expect(headers['x-neo-wake-signature']).toBe(createHmac('sha256', signingKey).update(raw).digest('hex'))
  }
  const logIds = log.events.map(({ logId }: { logId: number }) => logId)
  expect(logIds).toEqual(logIds.map((_logId: number, at: number) => logIds[0] + at))
  expect((await after.call('GET', `/v1/wake-subscriptions/${id}`, undefined, donna)).body.status).toBe('active')
})

test('a gateway that runs is not moved', async () => {
  await using empty = await emptyPostgres()
  await using gateway = await startGateway({ env: embedded })
  const { code, stderr } = await run(migrate, { ROUSE_DATA_DIR: gateway.dataDir, ROUSE_DATABASE_URL: empty.url })
  expect(code).toBe(1)
  expect(stderr).toContain(`Another gateway is running on ${gateway.dataDir}`)
})

test('another encryption key than that of the signing keys is refused before anything is copied', async () => {
  using directory = dataDirectory()
  await using empty = await emptyPostgres()
  await using gateway = await startGateway({ dataDir: directory.path, env: embedded })
  await gateway.subscribe(await gateway.addAgent('donna'), 'http://127.0.0.1:9/')
  await gateway.stop()
  const env = { ROUSE_DATA_DIR: directory.path, ROUSE_DATABASE_URL: empty.url }
  const other = randomBytes(32).toString('base64')
  const { code, stderr } = await run(migrate, { ...env, ROUSE_ENCRYPTION_KEY: other })
  expect(code).toBe(1)
  expect(stderr).toContain('encrypted with a key that ROUSE_ENCRYPTION_KEY does not list')
  const own = readFileSync(join(directory.path, 'encryption.key'), 'utf8').trim()
  expect(await run(migrate, { ...env, ROUSE_ENCRYPTION_KEY: `${other} ${own}` })).toMatchObject({ code: 0 })
})

test('a directory whose store was moved starts no gateway, and says where the store is and how to start it anyway', async () => {
  using directory = dataDirectory()
  await using empty = await emptyPostgres()
  await (await startGateway({ dataDir: directory.path, env: embedded })).stop()
  const env = { ROUSE_DATA_DIR: directory.path, ROUSE_DATABASE_URL: empty.url }
  expect(await run([...migrate, '--json'], env)).toMatchObject({ code: 0 })
  const again = startGateway({ dataDir: directory.path, env: embedded })
  await expect(again).rejects.toThrow(
    /was copied to PostgreSQL at 127\.0\.0\.1:\d+.*Set ROUSE_DATABASE_URL.*remove .*migrated/,
  )
  const encryptionKey = readFileSync(join(directory.path, 'encryption.key'), 'utf8').trim()
  const moved = { ...embedded, ROUSE_DATABASE_URL: empty.url, ROUSE_ENCRYPTION_KEY: encryptionKey }
  await (await startGateway({ dataDir: directory.path, env: moved })).stop()
  rmSync(join(directory.path, 'migrated'))
  await (await startGateway({ dataDir: directory.path, env: embedded })).stop()
})

test('a second move is refused, and later data of the target is not lost', async () => {
  using directory = dataDirectory()
  await using empty = await emptyPostgres()
  await using gateway = await startGateway({ dataDir: directory.path, env: embedded })
  await gateway.addAgent('donna')
  await gateway.stop()
  const env = { ROUSE_DATA_DIR: directory.path, ROUSE_DATABASE_URL: empty.url }
  expect(await run([...migrate, '--json'], env)).toMatchObject({ code: 0 })
  await runSql(empty.url, `update agent set display_name = 'Donna'`)
  const { code, stderr } = await run(migrate, env)
  expect(code).toBe(1)
  expect(stderr).toMatch(/already has data: .*agent \(1\)/)
  expect(await runSql(empty.url, 'select display_name from agent')).toEqual([{ display_name: 'Donna' }])
})

test('a directory without a store and a missing server have different errors', async () => {
  using directory = dataDirectory()
  const env = { ROUSE_DATA_DIR: directory.path, ROUSE_DATABASE_URL: 'postgres://127.0.0.1:1/rouse' }
  expect(await run(migrate, env)).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no store in') })
  await (await startGateway({ dataDir: directory.path, env: embedded })).stop()
  expect(await run(migrate, env)).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot be opened') })
})

test('a subscription whose stream was open when its gateway died waits for the next one after the move', async () => {
  using old = dataDirectory()
  await using empty = await emptyPostgres()
  const before = await startGateway({ dataDir: old.path, env: embedded })
  const donna = await before.addAgent('donna')
  const stream = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon', harnessTargetMetadata: { coalesceWindow: 0 } }
  await before.call('POST', '/v1/wake-subscriptions', stream, donna)
  await before.stop()
  const raw = new Sqlite(join(old.path, 'rouse.db'))
  raw.exec("update subscription set status = 'active', stream_id = 's', stream_gateway = 'gone', due_at = 0")
  raw.close()
  const { code, stderr } = await run(migrate, { ROUSE_DATA_DIR: old.path, ROUSE_DATABASE_URL: empty.url })
  expect(code, stderr).toBe(0)
  const [moved] = await runSql(empty.url, 'select status, stream_id, stream_gateway from subscription')
  expect(moved).toEqual({ status: 'waiting', stream_id: null, stream_gateway: null })
})
