// Counts what one SendMessage leaves in the store: rows, entries and bytes of each table and index, and the pages of the write-ahead log that
// its commit wrote. An agent sends to another over HTTP, one message at a time and 16 at a time.
//   node bench/footprint.mjs [--rounds 9] [--messages 64] [--quick]
import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { runIfMain } from './lib/command.mjs'
import { liftRates, sendMessage, startGateway } from './lib/gateway.mjs'
import { quantile } from './lib/stats.mjs'
import { number, table } from './lib/table.mjs'

export const title = 'What a message stores'
export const defaults = { rounds: 9, messages: 64 }
export const quick = { rounds: 3, messages: 16 }

const text = 'the build of last night is done, please look at it'
const concurrency = 16
/** The audit is written this long after the answer, at most. */
const auditMs = 500

export async function measure({ rounds, messages }) {
  const alone = await run(rounds, messages, 1)
  const together = await run(rounds, messages, concurrency)
  const note = `${rounds} rounds of ${number(messages)} messages of ${text.length} characters, from one agent to another, on SQLite, after two rounds of warm-up. Bytes are what the cells of the pages hold, without free space. The key of a table is in the table. Pages: the median round.`
  return [note, totals(alone, together), perTable(alone)].join('\n\n')
}

async function run(rounds, messages, clients) {
  const gateway = await startGateway()
  try {
    await liftRates(gateway)
    await gateway.call('POST', '/v1/agents', { handle: 'donna' })
    const { apiKey } = await gateway.call('POST', '/v1/agents', { handle: 'peer' })
    await sendAll(gateway, apiKey, 2 * messages, clients)
    const before = readTables(gateway.dataDir)
    const pages = []
    for (let round = 0; round < rounds; round++) {
      const written = pagesOfLog(gateway.dataDir)
      await sendAll(gateway, apiKey, messages, clients)
      pages.push((pagesOfLog(gateway.dataDir) - written) / messages)
    }
    await sleep(auditMs)
    const tables = perMessage(before, readTables(gateway.dataDir), rounds * messages)
    // After a checkpoint the log begins again: that round says nothing.
    return {
      tables,
      pages: quantile(
        pages.filter((count) => count > 0),
        0.5,
      ),
    }
  } finally {
    await gateway.stop()
  }
}

async function sendAll(gateway, key, messages, clients) {
  let sent = 0
  const client = async () => {
    while (sent++ < messages) await sendMessage(gateway, 'donna', text, key)
  }
  await Promise.all(Array.from({ length: clients }, client))
}

/** Rows, entries and bytes of every table with its indexes. An entry is a row in its table, or a key in an index. */
function readTables(dataDir) {
  const db = new Sqlite(join(dataDir, 'rouse.db'), { readonly: true })
  const schema = db.prepare('select name, tbl_name as owner, type from sqlite_schema').all()
  const parts = new Map(schema.map(({ name, owner, type }) => [name, { owner, isIndex: type === 'index' }]))
  const found = new Map()
  for (const { name, bytes, entries } of db.prepare(sizes).all()) {
    const { owner, isIndex } = parts.get(name) ?? { owner: name, isIndex: false }
    const entry = found.get(owner) ?? { rows: countRows(db, owner), entries: 0, bytes: 0, indexBytes: 0 }
    entry[isIndex ? 'indexBytes' : 'bytes'] += bytes
    entry.entries += entries
    found.set(owner, entry)
  }
  db.close()
  return found
}

// An inner page of a table with a rowid has keys without rows: they are no entries.
const sizes = `select name, sum(payload) as bytes,
  sum(case when pagetype = 'leaf' or payload > 0 then ncell else 0 end) as entries from dbstat group by name`

const countRows = (db, name) =>
  name.startsWith('sqlite_') ? 0 : db.prepare(`select count(*) from "${name}"`).pluck().get()

/** The pages in the log: `mxFrame` of SQLite's index of it (walformat.html, 2.1). */
function pagesOfLog(dataDir) {
  const index = new Uint32Array(1)
  const fd = openSync(join(dataDir, 'rouse.db-shm'), 'r')
  readSync(fd, index, 0, 4, 16)
  closeSync(fd)
  return index[0]
}

function perMessage(before, after, messages) {
  const tables = [...after].map(([name, now]) => {
    const old = before.get(name) ?? { rows: 0, entries: 0, bytes: 0, indexBytes: 0 }
    const of = (field) => (now[field] - old[field]) / messages
    return { name, rows: of('rows'), entries: of('entries'), bytes: of('bytes'), indexBytes: of('indexBytes') }
  })
  return tables.filter(({ rows }) => rows >= 0.1)
}

function totals(alone, together) {
  const sum = ({ tables }, field) => tables.reduce((total, one) => total + one[field], 0)
  const row = (label, run) => [
    label,
    number(sum(run, 'rows'), 1),
    number(sum(run, 'entries'), 1),
    number(sum(run, 'bytes') + sum(run, 'indexBytes')),
    number(run.pages, 1),
  ]
  const rows = [row('one message at a time', alone), row(`${concurrency} messages at a time`, together)]
  return table(['each message', 'rows', 'entries of tables and indexes', 'bytes in them', 'pages of the log'], rows)
}

function perTable({ tables }) {
  const rows = tables
    .toSorted((a, b) => b.bytes + b.indexBytes - a.bytes - a.indexBytes)
    .map(({ name, rows, entries, bytes, indexBytes }) => {
      return [`\`${name}\``, number(rows, 1), number(entries, 1), number(bytes), number(indexBytes)]
    })
  return table(['table', 'rows', 'entries', 'bytes', 'bytes in its indexes'], rows)
}

await runIfMain(import.meta, { title, defaults, quick, measure })
