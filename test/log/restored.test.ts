import { cpSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { dataDirectory } from '../support/data-directory.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { besideStore, databaseUrlFor, onPostgres, runSql } from '../support/store.ts'

const read = (gateway: TestGateway, query: string, headers = {}) =>
  gateway.call('GET', `/v1/events?${query}`, undefined, { headers })
const grow = async (gateway: TestGateway, names: readonly string[]) => {
  for (const name of names) await gateway.addAgent(name)
}
const named = (body: { events: { data: { agent: string } }[] }) => body.events.map(({ data }) => data.agent)
const step = 1_000_000_000

/** Starts on a store, writes, and stops. */
async function run(dataDir: string, names: readonly string[]): Promise<void> {
  const gateway = await startGateway({ dataDir })
  await grow(gateway, names)
  await gateway.stop()
}

/** Copies the store to another place and back: what a backup and its restore do. */
async function backUp(dataDir: string): Promise<() => Promise<void>> {
  const url = await databaseUrlFor(dataDir)
  if (url === undefined) {
    cpSync(dataDir, `${dataDir}-copy`, { recursive: true })
    return async () => {
      rmSync(dataDir, { recursive: true })
      renameSync(`${dataDir}-copy`, dataDir)
    }
  }
  const all =
    "select tablename as name from pg_tables where schemaname = current_schema() and tablename <> 'schema_migration'"
  const tables = (await runSql(url, all)).map(({ name }) => name)
  for (const table of tables) await runSql(url, `create table copy_of_${table} (like ${table} including all)`)
  for (const table of tables) await runSql(url, `insert into copy_of_${table} select * from ${table}`)
  return async () => {
    for (const table of tables) {
      await runSql(url, `drop table ${table}`)
      await runSql(url, `alter table copy_of_${table} rename to ${table}`)
    }
  }
}

test('a position of events that a restore has taken back is refused, however long the log has become', async () => {
  using directory = dataDirectory()
  const dataDir = directory.path
  await run(dataDir, ['before-1', 'before-2'])
  const restore = await backUp(dataDir)
  await run(dataDir, ['lost-1', 'lost-2', 'lost-3'])
  await restore()
  await using gateway = await startGateway({ dataDir })
  await grow(gateway, ['new-1', 'new-2', 'new-3', 'new-4'])
  for (const [query, headers] of [
    ['since=5', {}],
    ['since=5', { accept: 'text/event-stream' }],
    ['', { accept: 'text/event-stream', 'last-event-id': '4' }],
  ] as const) {
    const { status, body } = await read(gateway, query, headers)
    expect([status, body.code, body.lastLogId]).toEqual([409, 'watermark-ahead', 2])
    expect(body.detail).toContain('a backup was restored')
  }
  const shared = (await read(gateway, 'since=2')).body
  expect(named(shared)).toEqual(['@new-1', '@new-2', '@new-3', '@new-4'])
  expect(shared.events[0].logId).toBe(step + 1)
  expect(named((await read(gateway, 'since=1')).body)).toEqual(['@before-2', '@new-1', '@new-2', '@new-3', '@new-4'])
  for (const since of [step, step + 2, shared.nextSince])
    expect((await read(gateway, `since=${since}`)).status).toBe(200)
})

test('a poll of MCP Events with the cursor of before a restore says so, and gets what is new', async () => {
  using directory = dataDirectory()
  const dataDir = directory.path
  const poll = async (gateway: TestGateway, key: string, cursor: string | null) =>
    (await gateway.call('POST', '/v1/event-types/poll', { name: 'mail.received', cursor }, { key })).body
  const mail = (gateway: TestGateway, subject: string) =>
    gateway.call('POST', '/v1/messages', { to: '@donna', subject, body: 'x' })
  const first = await startGateway({ dataDir })
  const { key } = await first.addAgent('donna')
  await mail(first, 'before')
  await first.stop()
  const restore = await backUp(dataDir)
  const second = await startGateway({ dataDir })
  await mail(second, 'lost')
  const { cursor } = await poll(second, key, null)
  await second.stop()
  await restore()
  await using gateway = await startGateway({ dataDir })
  for (const subject of ['new-1', 'new-2']) await mail(gateway, subject)
  const { events, truncated } = await poll(gateway, key, cursor)
  expect(truncated).toBe(true)
  expect(events.map(({ data }: { data: { subject: string } }) => data.subject)).toEqual(['new-1', 'new-2'])
})

test('a store that starts where it was goes on without a gap', async () => {
  using directory = dataDirectory()
  for (const name of ['a', 'b', 'c']) await run(directory.path, [name])
  await using gateway = await startGateway({ dataDir: directory.path })
  expect((await read(gateway, 'since=0')).body.lastLogId).toBe(3)
})

describe.skipIf(onPostgres)('a file of SQLite is recognised as a copy', () => {
  const storeFiles = (dataDir: string) => readdirSync(dataDir).filter((name) => /^rouse\.db(-wal|-shm)?$/.test(name))
  const lastOf = async (dataDir: string): Promise<number> => {
    const gateway = await startGateway({ dataDir })
    const { lastLogId } = (await read(gateway, 'since=0')).body
    await gateway.stop()
    return lastLogId
  }

  test('beside the other files of its directory, written over the file that was there', async () => {
    using directory = dataDirectory()
    using copy = dataDirectory()
    await run(directory.path, ['before'])
    for (const name of storeFiles(directory.path)) cpSync(join(directory.path, name), join(copy.path, name))
    await run(directory.path, ['lost'])
    for (const name of storeFiles(copy.path)) cpSync(join(copy.path, name), join(directory.path, name))
    expect(await lastOf(directory.path)).toBe(step)
  })

  test('alone, in a new directory', async () => {
    using directory = dataDirectory()
    using other = dataDirectory()
    await run(directory.path, ['before'])
    for (const name of storeFiles(directory.path)) cpSync(join(directory.path, name), join(other.path, name))
    cpSync(join(directory.path, 'encryption.key'), join(other.path, 'encryption.key'))
    expect(await lastOf(other.path)).toBe(step)
  })

  test('where it is a new store in the place of an old one', async () => {
    using directory = dataDirectory()
    await run(directory.path, ['before'])
    for (const name of storeFiles(directory.path)) rmSync(join(directory.path, name))
    expect(await lastOf(directory.path)).toBe(0)
    expect(await besideStore(directory.path, 'select count(*) as count from store_fact')).toEqual([{ count: 1 }])
  })
})
