import pg from 'pg'
import { afterEach, expect, test, vi } from 'vitest'
import { connectionOptions } from '../../../src/storage/postgres/connection-options.ts'
import { startGateway } from '../../support/gateway.ts'
import { startPostgres } from '../../support/postgres-server.ts'
import { runSql } from '../../support/store.ts'
import { useEverything } from '../use-everything.ts'

afterEach(() => void vi.restoreAllMocks())

/** Rows of others in each table. */
const othersMin = 6_000
/** More than any page. */
const readMax = 600

/** Questions of an operator or of a scrape of the metrics, questions about all agents of a project, and what a gateway reads when it starts. */
const mayRead = [
  /from audit where id >= .* order by id desc/,
  /from operator_key order by created_at/,
  /from agent a where a.project_id = \$1 and \(a.contact_policy/,
  /select count\(\*\) as "count" from agent where project_id/,
  // Recovery looks at every agent, each with a look into its own rows.
  /from agent a where a.id > \$1 and a.id <= \$2 and \(/,
  // The needs that the operators of a project were told of: a row for each.
  /from need where project_id = /,
  /from shared_secret/,
  /from subscription group by 1, 2$/,
  // A clock that was ahead is set back: once, for all rows.
  /\/\* set back \*\//,
  /from (api|operator)_key where revoked_at >=/,
]

/** The columns that say whose a row is. */
const owners = /^((.*_)?(agent|assignee|originator|sender|owner)_id|audience)$/

interface Asked {
  readonly text: string
  readonly values: readonly unknown[]
}

test('no statement of a caller reads the rows of others, with a plan from when the store was new, or from today', async () => {
  // A server of its own: where others change their tables at the same time, it may forget its plans, and plan for the rows of now.
  const server = await startPostgres()
  try {
    await runSql(server.url, 'alter system set autovacuum = off')
    await runSql(server.url, 'select pg_reload_conf()')
    await requirePlans(server.url)
  } finally {
    await server.stop()
  }
})

async function requirePlans(url: string): Promise<void> {
  const asked = watch()
  await using gateway = await startGateway({ env: { ROUSE_DATABASE_URL: url } })
  await useEverything(gateway)
  await gateway.stop()
  vi.restoreAllMocks()
  const client = new pg.Client(connectionOptions(url))
  await client.connect()
  try {
    const statements = await prepare(client, asked)
    await addOthers(client)
    const young = await wasteful(client, statements)
    await client.query('analyze')
    const counted = await wasteful(client, statements)
    expect(asked.size).toBeGreaterThan(150)
    expect({ young, counted }).toEqual({ young: [], counted: [] })
  } finally {
    await client.end()
  }
}

/** Records the statements that are asked by name, with the values of the last time. */
function watch(): Map<string, Asked> {
  const asked = new Map<string, Asked>()
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const [first] = args as [{ name?: string } & Asked]
    if (first?.name !== undefined) asked.set(first.name, { text: first.text, values: first.values })
    return query.apply(this, args) as never
  } as never)
  return asked
}

/** Repeats each row for others: with other ids, and other owners, in the same project. */
async function addOthers(client: pg.Client): Promise<void> {
  await client.query("set session_replication_role = 'replica'")
  const { rows: tables } = await client.query(
    "select table_name as name from information_schema.tables where table_schema = current_schema() and table_name not in ('project', 'schema_migration')",
  )
  for (const { name } of tables) {
    const { rows: columns } = await client.query(
      `select a.attname as name, format_type(a.atttypid, null) as type, bool_or(i.indisunique) as "isUnique"
      from pg_attribute a left join pg_index i on i.indrelid = a.attrelid and a.attnum = any (i.indkey) and i.indisunique
      where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped group by 1, 2`,
      [name],
    )
    const changed = columns.flatMap(({ name: column, type, isUnique }) => {
      if (owners.test(column)) return [`'${column}', 'somebody'`]
      if (!isUnique || column === 'project_id') return []
      return [
        type === 'text'
          ? `'${column}', t.${column} || to_char(n, '-FM000000')`
          : `'${column}', t.${column} + 1000000 + n`,
      ]
    })
    if (changed.length === 0) continue
    await client.query(
      `insert into ${name} select (jsonb_populate_record(t, jsonb_build_object(${changed.join(', ')}))).*
      from ${name} t, generate_series(1, ${othersMin} / (select greatest(count(*), 1) from ${name}) + 1) n order by t.ctid, n on conflict do nothing`,
    )
  }
  await client.query("set session_replication_role = 'origin'")
}

interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Join Filter'?: number
  readonly Plans?: readonly Plan[]
}

interface Prepared {
  readonly execute: string
  readonly text: string
}

/** Plans statements for any values, as PostgreSQL does for those that are often asked. It keeps the plan until the statistics change. */
async function prepare(client: pg.Client, asked: ReadonlyMap<string, Asked>): Promise<Prepared[]> {
  await client.query('set plan_cache_mode = force_generic_plan')
  const prepared: Prepared[] = []
  for (const { text, values } of asked.values()) {
    // An insert of what is there already would be refused.
    if (!/^\s*(select|update|delete|with)\b/i.test(text)) continue
    if (mayRead.some((known) => known.test(text.replaceAll(/\s+/g, ' ')))) continue
    const name = `asked_${prepared.length}`
    await client.query(`prepare ${name} as ${text}`)
    const given = values.length === 0 ? '' : `(${values.map(literal).join(', ')})`
    const execute = `execute ${name}${given}`
    await client.query(`explain ${execute}`)
    prepared.push({ execute, text })
  }
  return prepared
}

/** The statements that read too much. */
async function wasteful(client: pg.Client, statements: readonly Prepared[]): Promise<string[]> {
  const found: string[] = []
  for (const { execute, text } of statements) {
    await client.query('begin')
    const { rows } = await client.query(`explain (analyze, timing off, format json) ${execute}`)
    await client.query('rollback')
    const flaws = flawsOf(rows[0]['QUERY PLAN'][0].Plan)
    if (flaws.length > 0) found.push(`${flaws.join('; ')}: ${text.replaceAll(/\s+/g, ' ')}`)
  }
  return found
}

function literal(value: unknown): string {
  return value === null || value === undefined ? 'null' : pg.escapeLiteral(String(value))
}

function flawsOf(plan: Plan): string[] {
  const loops = plan['Actual Loops']
  const removed = (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Join Filter'] ?? 0)
  const read = (plan['Actual Rows'] + removed) * loops
  const where = `${plan['Node Type']} ${plan['Index Name'] ?? plan['Relation Name'] ?? ''}`
  const own =
    read > readMax && plan['Relation Name'] !== undefined
      ? [`${where} reads ${read}, of which ${removed * loops} for nothing`]
      : []
  return [...own, ...(plan.Plans ?? []).flatMap(flawsOf)]
}
