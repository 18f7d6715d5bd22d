import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import pg from 'pg'
import { inject } from 'vitest'

/** What a schema held that is worth more to vacuum than to make anew. */
const rowsMax = 5_000

const urls = new Map<string, string>()
/** Where a test may have changed more than rows. */
const altered = new Set<string>()
let connection: Promise<pg.Client> | undefined

/**
 * The URL of the schema that belongs to a data directory. Migrating one costs more than most tests: a schema whose directory is
 * gone is emptied and serves again.
 */
export async function schemaUrlFor(dataDir: string): Promise<string> {
  const known = urls.get(dataDir)
  if (known !== undefined) return known
  const free = isAbsolute(dataDir) ? [...urls].find(([directory]) => isFree(directory)) : undefined
  if (!free) return createSchema(dataDir)
  urls.delete(free[0])
  urls.set(dataDir, free[1])
  if (await emptied(new URL(free[1]))) return free[1]
  return createSchema(dataDir)
}

/** The URL of a schema that has never held anything. */
export async function createSchema(dataDir: string): Promise<string> {
  const schema = `s${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`
  const url = new URL(inject('databaseUrl') as string)
  url.searchParams.set('options', `-c search_path=${schema}`)
  urls.set(dataDir, url.href)
  await (await server()).query(`create schema if not exists ${schema}`)
  return url.href
}

/** Keeps the schema from serving again when what a test says to it may change its tables. */
export function noteSql(url: string, text: string): void {
  if (/\b(create|alter|drop|truncate|grant|schema_migration)\b/i.test(text)) altered.add(url)
}

function isFree(dataDir: string): boolean {
  return isAbsolute(dataDir) && !existsSync(dataDir) && !altered.has(urls.get(dataDir) as string)
}

/** False when somebody still works on it, when it was never migrated, or when it held much. */
async function emptied(url: URL): Promise<boolean> {
  const schema = (url.searchParams.get('options') as string).split('=')[1] as string
  const client = await server()
  const { rows } = await client.query(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname = $1 and tablename <> 'schema_migration'`,
    [schema],
  )
  if (rows.length === 0) return false
  const names = rows.map(({ name }) => name)
  try {
    // One round trip is one transaction. Who waits for a lock here has found a gateway that is still at work.
    const answers = (await client.query(
      [
        `set local lock_timeout = '300ms'`,
        `lock table ${names.join(', ')} in access exclusive mode`,
        ...names.map((name) => `delete from ${name}`),
      ].join(';'),
    )) as unknown as pg.QueryResult[]
    return answers.reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0) <= rowsMax
  } catch {
    return false
  }
}

/** One connection for the whole worker, which does not keep it from ending. */
function server(): Promise<pg.Client> {
  connection ??= connect()
  return connection
}

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: inject('databaseUrl') as string })
  client.on('error', () => {
    connection = undefined
  })
  await client.connect()
  ;(client as pg.Client & { unref(): void }).unref()
  return client
}
