import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import type { Database } from '../../../src/storage/database.ts'
import { PostgresDatabase } from '../../../src/storage/postgres/postgres-database.ts'
import { p, sql, statement } from '../../../src/storage/statement.ts'
import { startPostgres } from '../../support/postgres-server.ts'
import { databaseUrlFor, runSql } from '../../support/store.ts'
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts'
import { until } from '../../support/until.ts'

const insert = statement<{ id: string }>(sql`insert into project (id, created_at) values (${p('id')}, 0)`)
const all = statement<object, { id: string }>(sql`select id from project order by id`)
const pid = statement<object, { pid: number }>(sql`select pg_backend_pid() as "pid"`)
const sleep = statement<{ seconds: string }>(sql`select pg_sleep(cast(${p('seconds')} as double precision))`)

let url: string
let proxy: TcpProxy
let db: Database

beforeEach(async () => {
  url = (await databaseUrlFor(randomBytes(8).toString('hex'))) as string
  const { hostname, port } = new URL(url)
  proxy = await startTcpProxy({ host: hostname, port: Number(port || 5432) })
  db = await PostgresDatabase.open(through(proxy), systemClock)
})
afterEach(async () => {
  await db.close()
  await proxy[Symbol.asyncDispose]()
})

function through({ port }: TcpProxy, more: Record<string, string> = {}): string {
  const line = new URL(url)
  line.hostname = '127.0.0.1'
  line.port = String(port)
  for (const [name, value] of Object.entries(more)) line.searchParams.set(name, value)
  return line.href
}

const ids = async (from: Database = db) => (await from.all(all, {})).map(({ id }) => id)
const put = (id: string, to: Database = db) => to.transaction((tx) => tx.run(insert, { id }))
const kill = (backend: number) => runSql(url, 'select pg_terminate_backend($1)', [backend])

test('a backend that ends in the middle of a group loses nothing: the group runs again', async () => {
  let tries = 0
  const first = db.transaction(async (tx) => {
    await tx.run(insert, { id: 'a' })
    if (tries++ === 0) await kill((await tx.get(pid, {}))!.pid)
    await tx.run(insert, { id: 'b' })
    return 'done'
  })
  expect(await Promise.all([first, put('c')])).toEqual(['done', 1])
  expect(tries).toBe(2)
  expect(await ids()).toEqual(['a', 'b', 'c'])
})

test('a connection that breaks while idle is opened again when it is needed', async () => {
  await put('a')
  for (const id of ['b', 'c']) {
    proxy.cutAll()
    expect(await ids()).toContain('a')
    proxy.cutAll()
    await put(id)
  }
  expect(await ids()).toEqual(['a', 'b', 'c'])
})

test('a connection that breaks during the commit is reported as uncertain, and the work is not repeated', async () => {
  let runs = 0
  let hooks = 0
  await put('warm')
  proxy.cutAfter('commit\u0000')
  const write = db.transaction(async (tx) => {
    runs++
    tx.onCommit(() => hooks++)
    await tx.run(insert, { id: 'a' })
  })
  await expect(write).rejects.toMatchObject({
    code: 'storage-unavailable',
    status: 503,
    message: expect.stringContaining('uncertain'),
    extra: { uncertain: true },
  })
  expect([runs, hooks]).toEqual([1, 0])
  await put('b')
  expect(await until(ids, (found) => found.includes('b'))).toEqual(['a', 'b', 'warm'])
})

test('without a server reads and writes are refused at once, and served again when it is back', async () => {
  await put('a')
  proxy.refuse()
  const unavailable = { code: 'storage-unavailable', status: 503 }
  for (let n = 0; n < 3; n++) {
    await expect(ids()).rejects.toMatchObject(unavailable)
    await expect(put('lost')).rejects.toMatchObject(unavailable)
  }
  proxy.accept()
  await put('b')
  expect(await ids()).toEqual(['a', 'b'])
})

test('a database that accepts no connections is unavailable, whatever code it gives for that', async () => {
  await using server = await startServer()
  await runSql(server.url, 'create database closing')
  const closing = new URL(server.url)
  closing.pathname = '/closing'
  await using gateway = await PostgresDatabase.open(closing.href, systemClock)
  await put('a', gateway)
  await runSql(server.url, 'alter database closing allow_connections false')
  await runSql(server.url, `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = 'closing'`)
  const unavailable = { code: 'storage-unavailable', status: 503 }
  await expect(ids(gateway)).rejects.toMatchObject(unavailable)
  await expect(put('lost', gateway)).rejects.toMatchObject(unavailable)
  await expect(PostgresDatabase.open(closing.href, systemClock)).rejects.toThrow(
    /cannot be opened: .*not currently accepting/,
  )
  await runSql(server.url, 'alter database closing allow_connections true')
  await put('b', gateway)
  expect(await ids(gateway)).toEqual(['a', 'b'])
})

test('a database that accepts no writes is reported, and used again when it does', async () => {
  const role = `rouse_${randomBytes(4).toString('hex')}`
  await runSql(url, `create role ${role} superuser login password 'secret'`)
  const line = new URL(through(proxy))
  line.username = role
  line.password = 'secret'
  const gateway = await PostgresDatabase.open(line.href, systemClock)
  await put('a', gateway)
  await runSql(url, `alter role ${role} set default_transaction_read_only = on`)
  proxy.cutAll()
  const outcomes = await Promise.allSettled(['b', 'c', 'd'].map((id) => put(id, gateway)))
  const refused = { code: 'storage-unavailable', message: expect.stringContaining('accepts no writes') }
  expect(outcomes).toMatchObject([{ reason: refused }, { reason: refused }, { reason: refused }])
  expect(await ids(gateway)).toEqual(['a'])
  await runSql(url, `alter role ${role} reset default_transaction_read_only`)
  await put('b', gateway)
  expect(await ids(gateway)).toEqual(['a', 'b'])
  await gateway.close()
  await runSql(url, `drop role ${role}`)
})

test('a statement that takes too long is ended, fails its own writer, and blocks no other writer for ever', async () => {
  await using patient = await PostgresDatabase.open(through(proxy, { statement_timeout: '200' }), systemClock)
  const slow = patient.transaction(async (tx) => {
    await tx.run(insert, { id: 'slow' })
    await tx.get(sleep, { seconds: '20' })
  })
  const outcomes = await Promise.allSettled([slow, put('a', patient), put('b', patient)])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
  expect(outcomes[0]).toMatchObject({
    reason: { code: 'storage-unavailable', message: expect.stringContaining('too long') },
  })
  expect(await ids(patient)).toEqual(['a', 'b'])
  await expect(patient.get(sleep, { seconds: '20' })).rejects.toMatchObject({ code: 'storage-unavailable' })
})

test('a writer waits for a row that another gateway has locked, and fails in time', async () => {
  await put('a')
  await using other = await PostgresDatabase.open(through(proxy, { lock_timeout: '200' }), systemClock)
  let let_go = () => {}
  const holder = db.transaction(async (tx) => {
    await tx.run(touch, { id: 'a' })
    await new Promise<void>((resolve) => (let_go = resolve))
  })
  await until(
    () => Promise.resolve(let_go.name),
    (name) => name !== 'let_go',
  )
  const outcomes = await Promise.allSettled([other.transaction((tx) => tx.run(touch, { id: 'a' })), put('b', other)])
  expect(outcomes).toMatchObject([{ reason: { code: 'storage-unavailable' } }, { status: 'fulfilled' }])
  let_go()
  await holder
})

test('the locks of a frozen gateway are released before others give up, and its own work is run again', async () => {
  await put('a')
  await using other = await PostgresDatabase.open(through(proxy), systemClock)
  let runs = 0
  let goOn = () => {}
  const stoodStill = new Promise<void>((resolve) => (goOn = resolve))
  const holder = db.transaction(async (tx) => {
    await tx.run(touch, { id: 'a' })
    runs++
    await stoodStill
  })
  await until(
    () => runs,
    (count) => count === 1,
  )
  expect(await other.transaction((tx) => tx.run(touch, { id: 'a' }))).toBe(1)
  goOn()
  await holder
  expect(runs).toBe(2)
  expect(await db.all(heads, {})).toEqual([{ head: 2 }])
})

test('a deadlock of two gateways is ended by the database, and both succeed', async () => {
  await Promise.all([put('a'), put('b')])
  await using other = await PostgresDatabase.open(through(proxy), systemClock)
  const both = (gateway: Database, first: string, second: string) =>
    gateway.transaction(async (tx) => {
      await tx.run(touch, { id: first })
      await new Promise((resolve) => setTimeout(resolve, 30))
      await tx.run(touch, { id: second })
    })
  await Promise.all([both(db, 'a', 'b'), both(other, 'b', 'a')])
  expect(await db.all(heads, {})).toEqual([{ head: 2 }, { head: 2 }])
})

test('a text with U+0000 is refused by name, without a word of SQL', async () => {
  await expect(put('a\u0000b')).rejects.toMatchObject({
    code: 'invalid-request',
    message: expect.stringContaining('U+0000'),
  })
  await expect(put('x'.repeat(9_000).replace(/x/g, () => Math.random().toString(36)))).rejects.toMatchObject({
    code: 'invalid-request',
    message: expect.stringContaining('too long'),
  })
})

test('a server that is restarted under load loses nothing that was acknowledged', async () => {
  await using server = await startServer()
  await using gateway = await PostgresDatabase.open(server.url, systemClock)
  const kept: string[] = []
  let running = true
  let refused = 0
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let n = 0; running; n++) {
      const id = `${writer}-${n}`
      try {
        await put(id, gateway)
        kept.push(id)
      } catch (error) {
        expect(error).toMatchObject({ code: 'storage-unavailable' })
        refused++
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
  })
  const grown = (by: number) => {
    const from = kept.length
    return until(
      () => Promise.resolve(kept.length),
      (now) => now >= from + by,
    )
  }
  await grown(100)
  await server.restart()
  await grown(100)
  running = false
  await Promise.all(writers)
  const found = new Set(await ids(gateway))
  expect(kept.filter((id) => !found.has(id))).toEqual([])
  expect(refused).toBeGreaterThan(0)
})

const touch = statement<{ id: string }>(sql`update project set log_head = log_head + 1 where id = ${p('id')}`)
const heads = statement<object, { head: number }>(sql`select log_head as "head" from project order by id`)

async function startServer() {
  const server = await startPostgres()
  return { ...server, [Symbol.asyncDispose]: () => server.stop() }
}
