import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import pg from 'pg'
import { inject } from 'vitest'

/** The rows up to which a schema is vacuumed; one that held more is made again. */
const rowsMax = 5_000

const urls = new Map<string, string>()
/** The directories whose schema is being made or emptied. */
const pending = new Map<string, Promise<string>>()
/** Where a test may have changed more than rows. */
const altered = new Set<string>()
let connection: Promise<pg.Client> | undefined
let last: Promise<unknown> = Promise.resolve()

/**
 * The URL of the schema that belongs to a data directory. Migrating one costs more than most tests: a schema whose directory is
 * gone is emptied and serves again.
 */
export async function schemaUrlFor(dataDir: string): Promise<string> {
  // Two gateways that start on one directory at the same time both wait until its schema is ready.
  const opening = pending.get(dataDir)
  if (opening) return opening
  const known = urls.get(dataDir)
  if (known !== undefined) return known
  const url = emptySchema(dataDir)
  pending.set(dataDir, url)
  try {
    return await url
  } finally {
    pending.delete(dataDir)
  }
}

async function emptySchema(dataDir: string): Promise<string> {
  const free = isAbsolute(dataDir) ? [...urls].find(([directory]) => isFree(directory)) : undefined
  if (!free) return createSchema(dataDir)
  urls.delete(free[0])
  urls.set(dataDir, free[1])
  if (await emptied(free[1])) return free[1]
  return createSchema(dataDir)
}

/** The URL of a schema that has never held anything. */
export async function createSchema(dataDir: string): Promise<string> {
  const schema = `s${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`
  const url = new URL(inject('databaseUrl') as string)
  url.searchParams.set('options', `-c search_path=${schema}`)
  urls.set(dataDir, url.href)
  await exclusively((client) => client.query(`create schema if not exists ${schema}`))
  return url.href
}

/** Keeps the schema from serving again when what a test says to it may change its tables. */
export function noteSql(url: string, text: string): void {
  if (/\b(create|alter|drop|truncate|grant|schema_migration)\b/i.test(text)) altered.add(url)
}

/** Runs SQL in a schema, on the worker's connection: for what waits for nobody. */
export async function inSchema(url: string, text: string, values: unknown[]): Promise<Record<string, unknown>[]> {
  noteSql(url, text)
  return exclusively(async (client) => {
    await client.query(`set search_path = ${schemaOf(url)}`)
    return (await client.query(text, values)).rows
  })
}

const schemaOf = (url: string): string => (new URL(url).searchParams.get('options') as string).split('=')[1] as string

function isFree(dataDir: string): boolean {
  return isAbsolute(dataDir) && !existsSync(dataDir) && !altered.has(urls.get(dataDir) as string)
}

/** False when somebody still works on it, when it was never migrated, or when it held much. */
function emptied(url: string): Promise<boolean> {
  return exclusively(async (client) => {
    const { rows } = await client.query(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
        where schemaname = $1 and tablename <> 'schema_migration'`,
      [schemaOf(url)],
    )
    if (rows.length === 0) return false
    const names = rows.map(({ name }) => name)
    // One round trip is one transaction. Who waits for a lock here has found a gateway that is still at work.
    const steps = [
      `set local lock_timeout = '300ms'`,
      `lock table ${names.join(', ')} in access exclusive mode`,
      ...names.map((name) => `delete from ${name}`),
    ]
    const answers = (await client.query(steps.join(';')).catch(() => undefined)) as unknown as pg.QueryResult[]
    return answers !== undefined && answers.reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0) <= rowsMax
  })
}

/** One connection for the whole worker: whoever comes next waits. */
function exclusively<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const done = last.then(async () => {
    connection ??= connect()
    return work(await connection)
  })
  last = done.catch(() => {})
  return done
}

/** It does not keep the worker from ending. */
async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: inject('databaseUrl') as string })
  client.on('error', () => {
    connection = undefined
  })
  client.setTypeParser(pg.types.builtins.INT8, Number)
  await client.connect()
  ;(client as pg.Client & { unref(): void }).unref()
  return client
}
