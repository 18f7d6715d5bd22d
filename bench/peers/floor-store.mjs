// The least that a message stores: a task with its message, a recipient, two events and whom they are for. Six rows, no history of
// states, no limits, no audit. Messages that arrive in one turn of the event loop share a commit, as they do in Rouse.
import { randomUUID } from 'node:crypto'
import Sqlite from 'better-sqlite3'
import { makeDirectory } from '../lib/processes.mjs'

/** The settings of a store that is forced to disk with each commit. */
export function openStore(name, schema) {
  const db = new Sqlite(`${makeDirectory(name)}/store.db`)
  for (const pragma of ['journal_mode = wal', 'synchronous = full', 'wal_autocheckpoint = 8000']) db.pragma(pragma)
  db.exec(schema)
  const begin = db.prepare('begin immediate')
  const commit = db.prepare('commit')
  let waiting = []
  return {
    db,
    /** Writes something together with what else waits. `written` is called after the commit. */
    write(work, written) {
      waiting.push({ work, written })
      if (waiting.length > 1) return
      setImmediate(() => {
        const group = waiting
        waiting = []
        begin.run()
        for (const one of group) one.work()
        commit.run()
        for (const one of group) one.written()
      })
    },
  }
}

const schema = `
  create table task (id text primary key, context_id text, agent text, state text, version int, message text, created_at int) without rowid;
  create index task_by_agent on task (agent, created_at);
  create table recipient (agent text, task_id text, status text, primary key (agent, task_id)) without rowid;
  create table event (log_id integer primary key, type text, actor text, data text, created_at int);
  create table audience (agent text, log_id int, primary key (agent, log_id)) without rowid;`

export function openMessageStore() {
  const { db, write } = openStore('floor', schema)
  const task = db.prepare(`insert into task values (?, ?, ?, 'submitted', 1, ?, ?)`)
  const recipient = db.prepare(`insert into recipient values (?, ?, 'sent')`)
  const event = db.prepare('insert into event values (?, ?, ?, ?, ?)')
  const audience = db.prepare('insert into audience values (?, ?)')
  let logId = 0
  /** Resolves with the task of a message when it is on disk. Ids grow with time, so that rows are appended. */
  return (message) =>
    new Promise((resolve) => {
      const createdAt = Date.now()
      const id = `${createdAt.toString(16).padStart(12, '0')}-${randomUUID()}`
      const contextId = randomUUID()
      const stamped = { ...message, taskId: id, contextId }
      const text = JSON.stringify(stamped)
      const data = JSON.stringify({ taskId: id, subject: message.parts[0].text?.slice(0, 200) })
      const work = () => {
        task.run(id, contextId, 'donna', text, createdAt)
        recipient.run('donna', id)
        for (const type of ['message.sent', 'task.state_changed']) {
          event.run(++logId, type, 'peer', data, createdAt)
          audience.run('donna', logId)
        }
      }
      write(work, () => resolve({ id, contextId, createdAt, stamped }))
    })
}
