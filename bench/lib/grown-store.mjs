import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { openRouse } from './rouse.mjs'

const monthMs = 30 * 24 * 60 * 60 * 1000
const agentsWithTasks = 10

/**
 * Fills a new store: ten agents that share `tasks` finished and open tasks of a peer, each with its message, its mail and its
 * events. One task goes the real way; the others are copies of its rows under ids and times of their own, so that they
 * look like whatever this build writes.
 */
export async function fillStore(dataDir, tasks) {
  const rouse = await openRouse(dataDir, { dispatch: false })
  const { agent: peer } = await rouse.register('peer')
  const caller = { kind: 'agent', id: peer.id, identity: peer.handle, projectId: peer.projectId }
  const agents = []
  for (let index = 0; index < agentsWithTasks; index++) agents.push((await rouse.register(`agent${index}`)).agent)
  const message = {
    messageId: 'm',
    role: 'ROLE_USER',
    parts: [{ text: 'the build of last night is done, please look at it' }],
  }
  const sent = await rouse.sendMessage(agents[0], message, caller)
  // An older build returns the task itself.
  const task = sent.task ?? sent
  const ids = copyTasks(join(dataDir, 'rouse.db'), { task, agents, copies: tasks - 1, newUuid: rouse.newUuid })
  await rouse.close()
  return ids
}

/** Adds agents until there are `count`, each with a subscription to `url` whose cursor is at the log head. */
export async function addSubscriptions(dataDir, count, url) {
  liftAgentLimit(join(dataDir, 'rouse.db'))
  const rouse = await openRouse(dataDir, { dispatch: false })
  const known = await rouse.query('select id, handle, project_id as "projectId" from agent')
  const subscribed = new Set((await rouse.query('select agent_id as id from subscription')).map(({ id }) => id))
  const add = async (index) => {
    const handle = `agent${index}`
    const agent = known.find((one) => one.handle === `@${handle}`) ?? (await rouse.register(handle)).agent
    if (!subscribed.has(agent.id)) await rouse.subscribe(agent, url)
  }
  for (let from = 0; from < count; from += 200) {
    const group = Array.from({ length: Math.min(200, count - from) }, (_, offset) => add(from + offset))
    await Promise.all(group)
  }
  await rouse.close()
}

/** A project has room for 2,000 agents by default. A build from before the limits of projects has no such column. */
function liftAgentLimit(file) {
  const db = new Sqlite(file)
  if (db.pragma('table_info(project)').some(({ name }) => name === 'limits'))
    db.prepare(`update project set limits = '{"agents":0}'`).run()
  db.close()
}

/** Returns some of the new tasks' ids, for reading them back. */
function copyTasks(file, { task, agents, copies, newUuid }) {
  const db = new Sqlite(file)
  for (const pragma of ['synchronous = OFF', 'cache_size = -400000', 'temp_store = MEMORY']) db.pragma(pragma)
  const rowsOf = (table, where, ...values) => db.prepare(`select * from ${table} where ${where}`).all(...values)
  const events = rowsOf('event', 'task_id = ?', task.id)
  const [mail] = rowsOf('message', 'task_id = ?', task.id)
  const template = {
    task: rowsOf('task', 'id = ?', task.id),
    message: [mail],
    message_recipient: rowsOf('message_recipient', 'message_id = ?', mail.id),
    event: events,
    event_audience: events.flatMap((event) =>
      rowsOf('event_audience', 'project_id = ? and log_id = ?', event.project_id, event.log_id),
    ),
  }
  const insert = Object.fromEntries(
    Object.entries(template).map(([table, [row]]) => [table, prepareInsert(db, table, row)]),
  )
  const firstLogId = events[0].log_id
  const now = Date.now()
  const kept = []

  db.exec('begin')
  for (let copy = 1; copy <= copies; copy++) {
    const at = Math.floor(now - monthMs * (1 - copy / (copies + 1)))
    const ids = {
      [task.id]: newUuid(at),
      [mail.id]: `MESSAGE:${newUuid(at)}`,
      [task.assigneeId]: agents[copy % agents.length].id,
    }
    const renamed = (text) => Object.entries(ids).reduce((result, [from, to]) => result.replaceAll(from, to), text)
    for (const [table, rows] of Object.entries(template)) {
      for (const row of rows) {
        const next = {}
        for (const [column, value] of Object.entries(row)) {
          if (typeof value === 'string') next[column] = renamed(value)
          else if (column === 'log_id') next[column] = value + copy * events.length
          else next[column] = column.endsWith('_at') && value !== null && column !== 'expires_at' ? at : value
        }
        // Nine of ten are done with; the others wait.
        if (table === 'task' && copy % 10 !== 0) Object.assign(next, { state: 'completed', version: 3 })
        insert[table].run(next)
      }
    }
    if (copy % Math.ceil(copies / 1_000) === 0) kept.push(ids[task.id])
    if (copy % 20_000 === 0) db.exec('commit; begin')
  }
  const head = firstLogId + (copies + 1) * events.length - 1
  db.prepare('update project set log_head = ?').run(head)
  recount(db)
  db.exec('commit')
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
  return kept
}

/** Counts the tasks anew: of the project, and of each agent, assignee, originator, and pair of agent and originator. */
function recount(db) {
  const parties = ['agent_id', 'assignee_id', 'originator_id']
  const counted = [[], ['agent_id'], ['assignee_id'], ['originator_id'], ['agent_id', 'originator_id']]
  const counts = counted.map((of) => {
    const columns = parties.map((party) => (of.includes(party) ? party : "''"))
    return `select ${[...columns, 'project_id', 'state', 'count(*)']} from task group by ${[...of, 'project_id', 'state']}`
  })
  db.exec(
    `delete from task_count; insert into task_count (${[...parties, 'project_id', 'state', 'total']}) ${counts.join(' union all ')}`,
  )
}

function prepareInsert(db, table, row) {
  const columns = Object.keys(row)
  return db.prepare(`insert into ${table} (${columns}) values (${columns.map((column) => `@${column}`)})`)
}
