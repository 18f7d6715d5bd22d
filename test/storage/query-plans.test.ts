import Sqlite from 'better-sqlite3'
import { afterEach, expect, test, vi } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { pruneEverything } from './prune-everything.ts'
import { useEverything } from './use-everything.ts'

afterEach(() => void vi.restoreAllMocks())

/** Tables that only an operator's list, a scrape of metrics, a start, or a clock that was set back reads whole. */
const mayScan = [
  /update subscription set lease_owner = null, due_at = \+\? where lease_owner is not null/,
  /from permission where project_id =/,
  /from operator_key order by created_at/,
  /from subscription group by 1, 2$/,
  /from gate group by nudges/,
  /count\(\*\) as "count" from session where ended_at is null$/,
  /delete from idempotency_key where result_id = ''$/,
  /schema_migration/,
  /\/\* set back \*\/$/,
  /from project( order by id)?$/,
  // A hundred browsers of a project at most.
  /select distinct project_id as "projectId" from push_subscription$/,
  /update project set log_head = \(/,
]

/** The index of the deliveries that are tried again: few, and read whole. */
const mayScanIndex = /^SCAN delivery USING INDEX delivery_retrying$/

/** A walk along the key of an inbox, which has all of an agent's mail, and the conditions for which there is an index. */
const wholeInbox = /PRIMARY KEY \(agent_id=\? AND message_id[<>]/
const partOfInbox = /r\.status = 'sent'|r\.signal_type = \?|r\.type <> 'msg'/

/** A walk from one audience to the next that reads all events of the first. */
const wholeAudience = /\(audience,project_id,trigger\)>/

/** A walk along the agents of a project, for their tasks: most have none. */
const everyAgent = /^SEARCH agent .*\(project_id=\?\)/

/** The indexes that no statement below uses, with the query that needs each. */
const mayBeUnused: Readonly<Record<string, string>> = {
  event_by_task: 'reads the events of one task for its streams and pushes',
  delivery_unfinished: 'reads the wakes that a gateway was sending when it ended',
  held_wake_released: 'reads the events of a release for a digest',
  mcp_session_by_use: 'removes sessions that nobody has used for long',
  reserved_name_by_handle: 'frees the names of a removed agent',
  subscription_live_push:
    'counts the push configs of an agent; on PostgreSQL, where it is smaller than the index of agents',
}

test('no statement that the gateway runs reads a table whole, and every index is for one of them', async () => {
  const prepare = vi.spyOn(Sqlite.prototype, 'prepare')
  await using gateway = await startGateway()
  await useEverything(gateway)
  await gateway.stop()
  await pruneEverything(gateway.dataDir)
  const texts = new Set(prepare.mock.calls.map(([text]) => text.trim()))
  vi.restoreAllMocks()

  using db = closing(new Sqlite(`${gateway.dataDir}/rouse.db`, { readonly: true }))
  const scans: string[] = []
  const used = new Set<string>()
  for (const text of texts) {
    if (!/^(with|select|insert|update|delete)\b/i.test(text) || mayScan.some((known) => known.test(text))) continue
    const bind = new Array(text.split('?').length - 1).fill(null)
    const plan = db.raw.prepare(`explain query plan ${text}`).all(...bind) as { detail: string }[]
    const subqueries = new Set(plan.map(({ detail }) => /^(?:CO-ROUTINE|MATERIALIZE) (\w+)$/.exec(detail)?.[1]))
    for (const { detail } of plan) {
      used.add(/USING (?:COVERING )?INDEX (\w+)/.exec(detail)?.[1] ?? '')
      // A subquery's own rows, at most a page or a step of them, and a statement's own values are read whole by intent.
      const scanned = /^SCAN (?!v\b|\(subquery|CONSTANT ROW|\d+ CONSTANT ROWS|\d+-ROW VALUES)(\w+)/.exec(detail)?.[1]
      if (scanned !== undefined && !subqueries.has(scanned) && !mayScanIndex.test(detail))
        scans.push(`${detail}: ${text}`)
      if (/TEMP B-TREE FOR ORDER BY/.test(detail) && /from task where/.test(text) && !/where id in/.test(text))
        scans.push(`${detail}: ${text}`)
      if (wholeInbox.test(detail) && partOfInbox.test(text)) scans.push(`${detail}: ${text}`)
      if (wholeAudience.test(detail)) scans.push(`${detail}: ${text}`)
      if (everyAgent.test(detail) && /from task_count/.test(text)) scans.push(`${detail}: ${text}`)
    }
  }
  expect(texts.size).toBeGreaterThan(50)
  expect(scans).toEqual([])
  // A bare parameter would be looked at by the planner, and the statement planned again at each execution.
  const bare = [...texts].filter((text) => /(?<!\+)\?/.test(text) && !/schema_migration/.test(text))
  expect(bare).toEqual([])
  const indexes = db.raw
    .prepare(`select name from sqlite_schema where type = 'index' and sql is not null`)
    .pluck()
    .all()
  const unused = (indexes as string[]).filter((name) => !used.has(name) && !(name in mayBeUnused))
  expect(unused).toEqual([])
})

function closing(raw: Sqlite.Database): Disposable & { readonly raw: Sqlite.Database } {
  return { raw, [Symbol.dispose]: () => void raw.close() }
}
