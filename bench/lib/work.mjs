import { createHmac, randomBytes } from 'node:crypto'
import { Pool } from 'undici'

/** The defined work: this many subscriptions, each with its own key, over four receivers; bodies of about 500 bytes. */
export const subscriptionCount = 100
export const receiverCount = 4
const connectionsPerReceiver = 64

/** A clock that all processes of one machine share, in microseconds. */
export const nowUs = () => Number(process.hrtime.bigint() / 1000n)

/** The mark in an event's text that says when it was due, for the receiver to read. */
export const stampPattern = /due=(\d+);/
export const stamped = (dueAtUs) => `due=${dueAtUs}; the build is done, please look at it`
export const plainText = 'the build of last night is done, please look at it'

/** The receiver and the key of each subscription. */
export function makeTargets(origins, pathOf = () => '/') {
  return Array.from({ length: subscriptionCount }, (_, index) => ({
    origin: origins[index % origins.length],
    path: pathOf(index),
    key: randomBytes(32),
  }))
}

/** The body of a peer for event `index`: the fields of a wake, so that the bodies of all engines have the same size. */
export function makeBody(index, text, eventId) {
  return JSON.stringify({
    schemaVersion: '1.0',
    eventType: 'wake/sent_to_me',
    eventId,
    logId: index,
    prevLogId: index - subscriptionCount,
    agentIdentity: `@agent${index % subscriptionCount}`,
    subscriptionId: 'WAKE_SUB:019a9a5e-5f2c-7c3e-9d52-0f6f3a1f7c11',
    payload: {
      messageId: `MESSAGE:${index}`,
      from: '@operator',
      subject: text,
      priority: 'normal',
      taggedConcepts: ['build', 'nightly'],
      isReplyTo: null,
      isBroadcast: false,
      taskId: '019a9a5e-5f2c-7c3e-9d52-0f6f3a1f7c11',
    },
    emittedAt: new Date().toISOString(),
  })
}

/** The headers of Standard Webhooks 1.0. */
export function signedHeaders(body, id, key) {
  const timestamp = Math.floor(Date.now() / 1000)
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${signature}`,
  }
}

/** POSTs through one undici pool for each receiver, which is the fastest client that Node has. */
export class Poster {
  #pools = new Map()

  /** The status. Throws when there is no answer, or one that is not 2xx. */
  async post({ origin, path }, headers, body) {
    const answer = await this.#pool(origin).request({ method: 'POST', path, headers, body })
    await answer.body.dump()
    if (answer.statusCode >= 300) throw new Error(`The receiver answered ${answer.statusCode}.`)
    return answer.statusCode
  }

  async close() {
    await Promise.all([...this.#pools.values()].map((pool) => pool.close()))
  }

  #pool(origin) {
    let pool = this.#pools.get(origin)
    if (!pool) {
      pool = new Pool(origin, { connections: connectionsPerReceiver, pipelining: 1 })
      this.#pools.set(origin, pool)
    }
    return pool
  }
}

/** The work of a queue's worker for one job `{ index, text }`: builds, signs and POSTs it. Returns the attempt. */
export async function deliver(poster, targets, { index, text }) {
  const startedAt = Date.now()
  const id = `msg_${index}`
  const body = makeBody(index, text, id)
  const target = targets[index % targets.length]
  const status = await poster.post(target, signedHeaders(body, id, target.key), body)
  return { id, at: startedAt, status, durationMs: Date.now() - startedAt }
}
