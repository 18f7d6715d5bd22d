import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { connectionOptions } from '../../src/storage/postgres/connection-options.ts'
import { toQuery } from '../../src/storage/postgres/query.ts'
import type { Statement } from '../../src/storage/statement.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { createSchema } from '../support/schemas.ts'
import { databaseUrlFor, onPostgres, openStore } from '../support/store.ts'

const declared: Pick<Statement, 'sql'>[] = []
const src = resolve(import.meta.dirname, '../../src')
const module = join(src, 'storage/statement.ts')
const noted = async (importOriginal: <T>() => Promise<T>) => {
  const original = await importOriginal<typeof import('../../src/storage/statement.ts')>()
  const note = <Made extends Pick<Statement, 'sql'>>(made: Made): Made => {
    declared.push(made)
    return made
  }
  return {
    ...original,
    statement: (text: never) => note(original.statement(text)),
    lockingStatement: (table: never, text: never) => note(original.lockingStatement(table, text)),
  }
}

// The files of a run share their modules: those that declare statements are loaded once more here, and once more after this.
beforeAll(async () => {
  vi.doMock(module, noted)
  vi.resetModules()
  for (const file of readdirSync(src, { recursive: true, encoding: 'utf8' })) {
    // The statements of the command line and of the bridge are for files of their own.
    if (!file.endsWith('.ts') || /^(storage|cli|bridge)\//.test(file)) continue
    if (/storage\/statement\.ts'/.test(readFileSync(join(src, file), 'utf8'))) await import(join(src, file))
  }
  expect(declared.length).toBeGreaterThan(80)
})
afterAll(() => {
  vi.doUnmock(module)
  vi.resetModules()
})

// One text serves both engines: each must know every table, column, function and type in it.
test('every statement that is declared is understood by the engine', async () => {
  using directory = dataDirectory()
  await (await openStore(directory.path, systemClock)).close()
  const refused = onPostgres ? await refusedByPostgres(directory.path) : await refusedBySqlite(directory.path)
  expect(refused).toEqual([])
})

// A gateway plans its statements when it starts, on a store that may be empty, and keeps the plans while the tables grow.
// It is planned again when the store is counted, which is once for few rows and again a minute after it has grown. Until then an update
// must not hold its locks for longer.
test.runIf(onPostgres).each([
  ['no plan that PostgreSQL makes for an empty store', false, /./],
  ['no plan of an update that PostgreSQL makes for a store that was counted with few rows', true, /^update/],
])('%s reads tables that grow', async (_, counted, which) => {
  using directory = dataDirectory()
  // A store that has been emptied is planned for as it was before.
  const url = await createSchema(directory.path)
  await (await openStore(directory.path, systemClock)).close()
  const client = new pg.Client(connectionOptions(url))
  await client.connect()
  await client.query('set plan_cache_mode = force_generic_plan')
  if (counted) await client.query(`vacuum analyze ${await tablesOf(client)}`)
  const slow: string[] = []
  for (const one of declared) {
    const { text, values } = toQuery(one as Statement, anything)
    if (!which.test(text.trim())) continue
    await client.query(`prepare one as ${text}`)
    const { rows } = await client.query(`explain execute one${values.length ? `(${values.map(() => 'null')})` : ''}`)
    await client.query('deallocate one')
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
    if (/Seq Scan on|Join Filter|Hash Join|Merge Join/.test(plan) && !mayReadAll.some((known) => known.test(text)))
      slow.push(`${text}\n${plan}`)
  }
  await client.end()
  expect(slow).toEqual([])
})

/** Small tables, and what only an operator's list, a scrape of the metrics or a migration reads whole. */
const mayReadAll = [
  /from project( order by id)?$/,
  // The needs of operators, until the store is counted.
  /share\.total from \(select c\.assignee_id as owner/,
  /^with recursive one\(origin\) as/,
  // At the start of a gateway that has its store alone, which is never one on PostgreSQL.
  /^delete from idempotency_key where result_id = ''$/,
  /update project set log_head = \(/,
  /from permission where project_id = /,
  /from gateway order by seen_at/,
  /from operator_key order by created_at/,
  /from gate group by restarts$/,
  /update subscription set lease_owner = null, due_at = \$1 where lease_owner is not null/,
]

/** The tables of the test's own schema: the database holds those of many other tests. */
async function tablesOf(client: pg.Client): Promise<string> {
  const { rows } = await client.query('select tablename from pg_tables where schemaname = current_schema()')
  return rows.map(({ tablename }) => tablename).join(', ')
}

const anything = new Proxy({}, { get: () => null })

async function refusedByPostgres(dataDir: string): Promise<string[]> {
  const client = new pg.Client(connectionOptions((await databaseUrlFor(dataDir)) as string))
  await client.connect()
  const refused: string[] = []
  for (const one of declared) {
    const { text } = toQuery(one as Statement, anything)
    const made = client.query(`prepare one as ${text}`).then(() => client.query('deallocate one'))
    await made.catch((error) => refused.push(`${error.message}: ${text}`))
  }
  await client.end()
  return refused
}

async function refusedBySqlite(dataDir: string): Promise<string[]> {
  const { default: Sqlite } = await import('better-sqlite3')
  const raw = new Sqlite(`${dataDir}/rouse.db`)
  const dialect = new SQLiteSyncDialect()
  const refused: string[] = []
  for (const { sql } of declared) {
    const text = dialect.sqlToQuery(sql).sql
    try {
      raw.prepare(text)
    } catch (error) {
      refused.push(`${(error as Error).message}: ${text}`)
    }
  }
  raw.close()
  return refused
}
