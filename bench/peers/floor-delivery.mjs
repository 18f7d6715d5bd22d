import { createHmac } from 'node:crypto'
import { Pool } from 'undici'
import { makeBody } from '../lib/work.mjs'
import { openStore } from './floor-store.mjs'

const schema = `
  create table event (log_id integer primary key, type text, actor text, data text, created_at int);
  create table audience (agent text, log_id int, primary key (agent, log_id)) without rowid;
  create table delivery (subscription int, log_id int, event_id text, status int, ms int, created_at int, primary key (subscription, log_id)) without rowid;
  create table subscription (id integer primary key, cursor int);`
const subscriptionId = '019a9a5e-5f2c-7c3e-9d52-0f6f3a1f7c11'
const connectionsMax = 64

/**
 * The least that a durable, ordered, signed delivery costs: an event and whom it is for, two signatures, one POST at a time for each
 * subscription, the record of the attempt and the cursor. No engine: no leases, retries, filters or policies.
 */
export async function open({ targets }) {
  const { db, write } = openStore('floor', schema)
  const insertEvent = db.prepare(`insert into event values (?, 'message.sent', '@operator', ?, ?)`)
  const insertAudience = db.prepare('insert into audience values (?, ?)')
  const insertDelivery = db.prepare('insert into delivery values (?, ?, ?, ?, ?, ?)')
  const moveCursor = db.prepare('update subscription set cursor = ? where id = ?')
  for (const index of targets.keys()) db.prepare('insert into subscription values (?, 0)').run(index)
  const pools = new Map()
  for (const { origin } of targets) {
    if (!pools.has(origin)) pools.set(origin, new Pool(origin, { connections: connectionsMax }))
  }
  const lines = targets.map(() => ({ waiting: [], isBusy: false }))
  let lastLogId = 0
  let recorded = 0

  function sendNext(index) {
    const line = lines[index]
    const event = line.waiting.shift()
    line.isBusy = event !== undefined
    if (event) send(index, event)
  }

  function send(index, { logId, text }) {
    const { origin, path, key } = targets[index]
    const startedAt = Date.now()
    const id = `01${String(logId).padStart(24, '0')}`
    const timestamp = String(Math.floor(startedAt / 1000))
    const body = makeBody(logId, text, id)
    const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
    const headers = [
      ...['content-type', 'application/json'],
      ...['x-neo-wake-signature', createHmac('sha256', key).update(body).digest('hex')],
      ...['x-neo-wake-event-id', id],
      ...['x-neo-wake-subscription-id', `WAKE_SUB:${subscriptionId}`],
      ...['x-neo-wake-schema-version', '1.0'],
      ...['webhook-id', id],
      ...['webhook-timestamp', timestamp],
      ...['webhook-signature', `v1,${signature}`],
    ]
    let status
    pools.get(origin).dispatch(
      { method: 'POST', path, headers, body },
      {
        onRequestStart() {},
        onResponseStart(_controller, statusCode) {
          status = statusCode
        },
        onResponseData() {},
        onResponseEnd() {
          const endedAt = Date.now()
          const work = () => {
            insertDelivery.run(index, logId, id, status, endedAt - startedAt, endedAt)
            moveCursor.run(logId, index)
          }
          write(work, () => recorded++)
          sendNext(index)
        },
        onResponseError(_controller, error) {
          throw error
        },
      },
    )
  }

  return {
    accept: (number, text) =>
      new Promise((resolve) => {
        const index = number % targets.length
        let logId
        const work = () => {
          logId = ++lastLogId
          insertEvent.run(logId, text, Date.now())
          insertAudience.run(`agent${index}`, logId)
        }
        write(work, () => {
          resolve()
          lines[index].waiting.push({ logId, text })
          if (!lines[index].isBusy) sendNext(index)
        })
      }),
    get recorded() {
      return recorded
    },
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.close()))
      db.close()
    },
  }
}
