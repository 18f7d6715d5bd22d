import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import { lockLog as takeLog } from '../../../src/log/event-store.ts'
import { ensureProject } from '../../../src/registry/projects/project-store.ts'
import type { PipelinedStatements, Transaction } from '../../../src/storage/database.ts'
import { pipelined } from '../../../src/storage/pipelined.ts'
import { PostgresDatabase } from '../../../src/storage/postgres/postgres-database.ts'
import { insertEvents } from '../../support/insert-events.ts'
import { databaseUrlFor, runSql } from '../../support/store.ts'
import { until } from '../../support/until.ts'

let url: string
let name: string
let db: PostgresDatabase

beforeEach(async () => {
  name = randomBytes(8).toString('hex')
  url = (await databaseUrlFor(name)) as string
  const named = new URL(url)
  named.searchParams.set('application_name', name)
  db = await PostgresDatabase.open(named.href, systemClock)
  await ensureProject(db, 'north')
})
afterEach(() => db.close())

const write = async (tx: Transaction, texts: readonly string[]): Promise<PipelinedStatements> => {
  const events = texts.map(
    (text) => ({ type: 'agent.updated', actor: '@donna', audience: [], data: { text } }) as const,
  )
  await insertEvents(tx, 'north', events)
  return pipelined()
}

/** One writer that leaves an event for the end. Resolves when its own part is done; the event is kept when `kept` resolves. */
async function append(text: string): Promise<{ kept: Promise<void> }> {
  let done = (): void => {}
  const ownPart = new Promise<void>((resolve) => {
    done = resolve
  })
  const kept = db.transaction(async (tx) => {
    tx.beforeCommit(write, text)
    done()
  })
  await ownPart
  return { kept }
}

async function holdLog(): Promise<{ release(): Promise<void> }> {
  const other = new pg.Client(url)
  await other.connect()
  await other.query(`begin; select id from project where id = 'north' for update`)
  return {
    async release() {
      await other.query('rollback')
      await other.end()
    },
  }
}

/** Returns how many of the gateway's connections wait for a row. */
async function waiting(count: number): Promise<void> {
  const text = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and application_name = '${name}'`
  await until(
    () => runSql(url, text),
    (rows) => rows.length === count,
  )
}

test('writers that arrive while a group waits for the log share its commit', async () => {
  const log = await holdLog()
  const first = await append('first')
  await waiting(1)
  const second = await append('second')
  await new Promise(setImmediate)
  const third = await append('third')
  const fourth = await append('fourth')
  await log.release()
  await Promise.all([first, second, third, fourth].map(({ kept }) => kept))

  const rows = await runSql(url, `select data, xmin::text as "commit" from event order by log_id`)
  const commits = new Map(rows.map((row) => [JSON.parse(String(row.data)).text, row.commit]))
  expect([...commits.keys()]).toEqual(['first', 'second', 'third', 'fourth'])
  expect(commits.get('third')).toBe(commits.get('second'))
  expect(commits.get('fourth')).toBe(commits.get('second'))
  expect(commits.get('second')).not.toBe(commits.get('first'))
})

test('a group that waits too long at the gate waits in the database, and nothing is lost', async () => {
  const log = await holdLog()
  const first = await append('first')
  const second = await append('second')
  await waiting(2)
  await log.release()
  await Promise.all([first.kept, second.kept])
  expect(await runSql(url, 'select log_head as "head" from project')).toContainEqual({ head: 2 })
})

test('a writer that locks the log early waits at the same gate: no group waits for it in the database', async () => {
  // It is connected before the log is taken: the looks must end before a group has waited too long at the gate.
  const looker = new pg.Client(url)
  await looker.connect()
  let goOn = (): void => {}
  const went = new Promise<void>((resolve) => {
    goOn = resolve
  })
  let taken = (): void => {}
  const hasLog = new Promise<void>((resolve) => {
    taken = resolve
  })
  const first = db.transaction(async (tx) => {
    await takeLog(tx, 'north')
    taken()
    await went
    tx.beforeCommit(write, 'first')
  })
  await hasLog
  const second = await append('second')
  const text = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and application_name = '${name}'`
  for (let look = 0; look < 20; look++) expect((await looker.query(text)).rows).toEqual([])
  await looker.end()
  goOn()
  await Promise.all([first, second.kept])
  const rows = await runSql(url, 'select data from event order by log_id')
  expect(rows.map(({ data }) => JSON.parse(String(data)).text)).toEqual(['first', 'second'])
})
