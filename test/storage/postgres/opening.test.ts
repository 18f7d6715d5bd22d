import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import { ownMigrations } from '../../../src/storage/migrations.ts'
import { connectionOptions } from '../../../src/storage/postgres/connection-options.ts'
import { migrate } from '../../../src/storage/postgres/migrate.ts'
import { PostgresDatabase } from '../../../src/storage/postgres/postgres-database.ts'
import { refuseTransactionPooler } from '../../../src/storage/postgres/transaction-pooler.ts'
import { WriteConnection } from '../../../src/storage/postgres/write-connection.ts'
import { sql, statement } from '../../../src/storage/statement.ts'
import { hasPgBouncer, startPgBouncer } from '../../support/pgbouncer.ts'
import { databaseUrlFor, runSql } from '../../support/store.ts'
import { laterMigration, schemaOne } from '../later-migration.ts'

const applied = statement<object, { version: number }>(sql`select version from schema_migration order by version`)
const settings = statement<object, { value: string }>(sql`select current_setting('application_name') || ' ' ||
  current_setting('statement_timeout') || ' ' || current_setting('idle_in_transaction_session_timeout') || ' ' ||
  current_setting('transaction_isolation') as "value"`)

const freshUrl = async () => (await databaseUrlFor(randomBytes(8).toString('hex'))) as string
const open = (url: string) => PostgresDatabase.open(url, systemClock)

test('several gateways that start at once on an empty database migrate it once', async () => {
  const url = await freshUrl()
  const gateways = await Promise.all(Array.from({ length: 5 }, () => open(url)))
  const versions = await Promise.all(gateways.map((db) => db.all(applied, {})))
  const own = ownMigrations('postgres').map(({ version }) => ({ version }))
  for (const version of versions) expect(version).toEqual(own)
  await Promise.all(gateways.map((db) => db.close()))
})

test('a start that finds every migration does not wait for the lock of those that migrate', async () => {
  const url = await freshUrl()
  await (await open(url)).close()
  const other = new pg.Client(url)
  await other.connect()
  await other.query('select pg_advisory_lock(4520, hashtext(current_schema()))')
  await (await open(url)).close()
  await other.end()
})

test('a store of a newer build is refused with the version that made it so', async () => {
  const url = await freshUrl()
  await migrate(url, 1, later)
  await expect(open(url)).rejects.toThrow(
    /^The store is newer than this build \(0\.\S+\): Rouse 0\.\S+ migrated it to 9998_later\.sql/,
  )
})

const later = [...ownMigrations('postgres'), laterMigration]

test('several gateways that start at once on a store from before hashes were kept migrate it once', async () => {
  const url = await freshUrl()
  await runSql(url, schemaOne('postgres'))
  await runSql(url, "create table of_another_program (id text); insert into project values ('p', 0, 0, null, 1)")
  await Promise.all(Array.from({ length: 3 }, () => migrate(url, 5, later)))
  const rows = await runSql(url, 'select version, hash, applied_at from schema_migration order by version')
  expect(rows).toEqual(later.map(({ version, hash }) => ({ version, hash, applied_at: version === 1 ? 1 : 5 })))
  expect(await runSql(url, 'select id, added from project')).toEqual([{ id: 'p', added: null }])
})

test('gateways of this build take over a store from before hashes were kept, at once', async () => {
  const url = await freshUrl()
  await runSql(url, schemaOne('postgres'))
  const gateways = await Promise.all([open(url), open(url)])
  await Promise.all(gateways.map((db) => db.close()))
  const rows = await runSql(url, 'select hash from schema_migration order by version')
  expect(rows).toEqual(ownMigrations('postgres').map(({ hash }) => ({ hash })))
})

test.each(['alter table need alter column is_open type smallint', 'drop index task_by_context'])(
  'an early store whose tables are others is refused, and stays as it was: %s',
  async (change) => {
    const url = await freshUrl()
    await runSql(url, schemaOne('postgres'))
    await runSql(url, change)
    await expect(open(url)).rejects.toThrow(/^The store was made on 1970-01-01, by an older build/)
    expect(await runSql(url, 'select * from schema_migration')).toEqual([
      { version: 1, name: '0001_schema.sql', applied_at: 1 },
    ])
  },
)

test('a migration that fails leaves nothing of itself, and the next start tries it again', async () => {
  const url = await freshUrl()
  await runSql(url, 'create table event (in_the_way text)')
  await expect(open(url)).rejects.toThrow('"event" already exists')
  await runSql(url, 'drop table event')
  await (await open(url)).close()
})

test('a database of another encoding is refused with the way to make a right one', async () => {
  const url = await freshUrl()
  const name = `rouse_latin_${randomBytes(4).toString('hex')}`
  await runSql(url, `create database ${name} encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template template0`)
  const latin = new URL(url)
  latin.pathname = `/${name}`
  latin.search = ''
  await expect(open(latin.href)).rejects.toThrow(/encoding LATIN1.*createdb --encoding UTF8/)
  await runSql(url, `drop database ${name} with (force)`)
})

describe('a database that cannot be opened is reported with the setting to correct, and without the password', () => {
  const cases: [what: string, change: (url: URL) => void, message: RegExp][] = [
    ['nothing listens', (url) => (url.port = '1'), /ECONNREFUSED.* the host and the port in ROUSE_DATABASE_URL/],
    ['no such host', (url) => (url.hostname = 'no.invalid'), /ENOTFOUND|EAI_AGAIN.* host name in ROUSE_DATABASE_URL/],
    ['no such user', (url) => (url.username = 'nobody'), /"nobody" does not exist.* password in ROUSE_DATABASE_URL/],
    ['no such database', (url) => (url.pathname = '/none'), /"none" does not exist.* createdb|its name in ROUSE_/],
    ['no TLS', (url) => (url.search = '?sslmode=verify-full'), /support SSL.* sslmode out of ROUSE_DATABASE_URL/],
    ['no such file', (url) => (url.search = '?sslrootcert=/none'), /ENOENT.* the file in ROUSE_DATABASE_URL/],
  ]
  test.each(cases)('%s', async (_what, change, message) => {
    const url = new URL(await freshUrl())
    url.password = 'geheim'
    change(url)
    const failure = (await open(url.href).catch((error: Error) => error)) as Error
    expect(failure.message).toMatch(/^The database cannot be opened: /)
    expect(failure.message).toMatch(message)
    expect(failure.message).not.toContain('geheim')
  })
})

test('a user who may not make tables is reported with what to grant', async () => {
  const url = new URL(await freshUrl())
  const role = `rouse_${randomBytes(4).toString('hex')}`
  await runSql(url.href, `create role ${role} login`)
  url.username = role
  url.search = ''
  await expect(open(url.href)).rejects.toThrow(/permission denied.* Grant that to the user of ROUSE_DATABASE_URL/)
  await runSql(url.href.replace(role, new URL(await freshUrl()).username), `drop role ${role}`)
})

describe('a pooler that lends the sessions of PostgreSQL for one transaction', () => {
  const connect = async (url: string) => {
    const connections = [1, 2].map(() => new WriteConnection(connectionOptions(url), () => {})) as [
      WriteConnection,
      WriteConnection,
    ]
    const close = () => Promise.all(connections.map((one) => one.close()))
    return { connections, [Symbol.asyncDispose]: async () => void (await close()) }
  }
  const refusal = /Give the address of PostgreSQL itself in ROUSE_DATABASE_URL, or set the pooler to sessions/

  test('two connections with one session are refused, and those with two are not', async () => {
    await using direct = await connect(await freshUrl())
    const [one, other] = direct.connections
    await expect(refuseTransactionPooler(one, one)).rejects.toThrow(refusal)
    await refuseTransactionPooler(one, other)
  })

  const ignored =
    'ignore_startup_parameters = options,statement_timeout,lock_timeout,idle_in_transaction_session_timeout'

  test.runIf(hasPgBouncer).each([
    ['the last one first', ['pool_mode = transaction', ignored]],
    ['each in turn', ['pool_mode = transaction', 'server_round_robin = 1', 'min_pool_size = 3', ignored]],
    ['no settings', ['pool_mode = transaction']],
  ])('PgBouncer: %s', async (_what, settings) => {
    await using pooler = await startPgBouncer(await freshUrl(), settings)
    await expect(open(pooler.url)).rejects.toThrow(refusal)
  })

  test.runIf(hasPgBouncer)('PgBouncer with sessions is not refused', async () => {
    await using pooler = await startPgBouncer(await freshUrl(), ['pool_mode = session', ignored])
    await using through = await connect(pooler.url)
    await refuseTransactionPooler(...through.connections)
  })
})

test('every connection has its time-outs, its name and the isolation that the statements are written for', async () => {
  await using db = await open(await freshUrl())
  const expected = [{ value: 'rouse 10s 4s read committed' }]
  expect(await db.all(settings, {})).toEqual(expected)
  expect(await db.transaction((tx) => tx.all(settings, {}))).toEqual(expected)
})
