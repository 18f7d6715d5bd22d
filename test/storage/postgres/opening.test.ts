import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import pg from 'pg'
import { expect, test } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import { PostgresDatabase } from '../../../src/storage/postgres/postgres-database.ts'
import { sql, statement } from '../../../src/storage/statement.ts'
import { databaseUrlFor, runSql } from '../../support/store.ts'

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
  const files = readdirSync(new URL('../../../drizzle/postgres/', import.meta.url)).sort()
  for (const version of versions) expect(version).toEqual(files.map((file) => ({ version: Number(file.slice(0, 4)) })))
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

test('a store of a newer build is refused', async () => {
  const url = await freshUrl()
  await (await open(url)).close()
  await runSql(url, `insert into schema_migration values (9999, '9999_future.sql', 0)`)
  await expect(open(url)).rejects.toThrow(/schema 9999 and this build knows schemas up to \d+\. Start the newer/)
})

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

test('a missing server is reported with the setting to check, and without the password', async () => {
  const failure = await open('postgres://rouse:geheim@127.0.0.1:1/rouse').catch((error: Error) => error)
  expect((failure as Error).message).toMatch(/^The database cannot be opened: .*ECONNREFUSED.*ROUSE_DATABASE_URL/)
  expect((failure as Error).message).not.toContain('geheim')
})

test('every connection has its time-outs, its name and the isolation that the statements are written for', async () => {
  await using db = await open(await freshUrl())
  const expected = [{ value: 'rouse 10s 4s read committed' }]
  expect(await db.all(settings, {})).toEqual(expected)
  expect(await db.transaction((tx) => tx.all(settings, {}))).toEqual(expected)
})
