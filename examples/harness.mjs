// A harness in 160 lines: no A2A, no SDK, no dependency. It has one webhook, makes a few REST calls, reports its presence, and does
// the work that it is woken for. Run it with ROUSE_URL and the key of its agent, in ROUSE_KEY or in the file that ROUSE_KEY_FILE names:
//
//   rouse agent add donna --save-key donna.key
//   ROUSE_KEY_FILE=donna.key node examples/harness.mjs
//   rouse send @donna "count these words" --wait
import { createHmac, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const gateway = process.env.ROUSE_URL ?? 'http://127.0.0.1:4520'
const { ROUSE_KEY, ROUSE_KEY_FILE } = process.env
const key = ROUSE_KEY ?? (ROUSE_KEY_FILE && readFileSync(ROUSE_KEY_FILE, 'utf8').trim())
if (!key) throw new Error('ROUSE_KEY_FILE: name the file with the key that registering the agent made.')

const readsMail = {}
const seen = new Set() // A wake may come twice, always under the same eventId.
let sessionId
let signingKey
let subscriptionId
let lastLogId // The newest wake: the next one names it as its prevLogId.

const server = createServer(async (req, res) => {
  const chunks = []
  for await (const chunk of req) chunks.push(chunk)
  const body = Buffer.concat(chunks)
  // A wake may come before the answer that has its signing key. After 503 it is sent again; 401 would degrade the subscription.
  if (!signingKey) return void res.writeHead(503, { 'Retry-After': '1' }).end()
  if (!isGenuine(req.headers, body)) {
    res.writeHead(401).end()
    return
  }
  res.writeHead(204).end() // Answer first, work afterwards: the gateway waits ten seconds and no longer.
  const wake = JSON.parse(body)
  if (seen.has(wake.eventId)) return
  seen.add(wake.eventId)
  say('woken', {
    eventType: wake.eventType,
    logId: wake.logId,
    ...pick(wake.payload, 'newState', 'reason', 'eventCount'),
  })
  handle(wake).catch((error) => say('failed', { error: error.message }))
})

async function handle(wake) {
  const isMissing = lastLogId !== undefined && wake.prevLogId > lastLogId
  const sinceLogId = lastLogId
  lastLogId = Math.max(lastLogId ?? 0, wake.logId)
  if (isMissing) await call('POST', `/v1/wake-subscriptions/${subscriptionId}/resync`, { sinceLogId })
  // A digest has events that waited, or that came within a short time. It names their tasks.
  for (const { taskId } of wake.payload.refs ?? [wake.payload]) if (taskId) await work(taskId)
}

server.listen(0, '127.0.0.1', async () => {
  const { port } = server.address()
  // A session says that this process speaks for the agent. The answer has the mail that waited: no wake repeats it. The same process
  // may repeat the call.
  const startedAt = new Date(performance.timeOrigin).toISOString()
  const session = await call('POST', '/v1/sessions', { surface: 'example', pid: process.pid, startedAt }, readsMail)
  sessionId = session.sessionId
  say('started', { sessionId })
  const waited = readMail(session)
  // The subscription belongs to the session: it is paused when a newer process takes over. Other tasks that waited come as a digest.
  const subscription = await call('POST', '/v1/wake-subscriptions', {
    trigger: 'TASK_STATE_CHANGED',
    harnessTargetMetadata: { url: `http://127.0.0.1:${port}/`, coalesceWindow: 0 },
    sessionId,
  })
  signingKey = subscription.signingKey
  subscriptionId = subscription.subscriptionId
  say('subscribed', { subscriptionId })
  await present('idle')
  setInterval(() => beat().catch((error) => say('failed', { error: error.message })), 60_000)
  const leave = async () => {
    await call('DELETE', `/v1/wake-subscriptions/${subscriptionId}`).catch(() => {})
    await call('DELETE', `/v1/sessions/${sessionId}`).catch(() => {})
    process.exit(0)
  }
  process.once('SIGINT', leave)
  process.once('SIGTERM', leave)
  for (const taskId of waited) await work(taskId).catch((error) => say('failed', { error: error.message }))
})

/** A sign of life. Its answer has the mail that came meanwhile. */
async function beat() {
  const answer = await call('PUT', `/v1/sessions/${sessionId}`, {}, readsMail)
  for (const taskId of readMail(answer)) await work(taskId)
}

/** Prints the mail in an answer. Returns the ids of its tasks: no wake repeats mail that came with an answer. */
function readMail({ pendingSignals = [] }) {
  for (const { from, subject } of pendingSignals) say('mail', { from, subject })
  return pendingSignals.map((signal) => signal.task_id).filter(Boolean)
}

/** Reports the state of the harness: other agents see it, and it decides who may interrupt. */
function present(state) {
  return call('PUT', '/v1/presence', { state, source: 'a2a-webhook' })
}

/** The work of the harness. This one counts words. */
async function work(taskId) {
  const task = await call('GET', `/v1/tasks/${taskId}`)
  // A task that is `working` was left by an earlier run, or another run works on it now: the version decides which one completes it.
  if (task.state !== 'submitted' && task.state !== 'working') return
  const move = (to, expectedVersion, rest) =>
    call('POST', `/v1/tasks/${taskId}/transitions`, { to, expectedVersion, ...rest })
  const { version } = task.state === 'submitted' ? await move('working', task.version) : task
  say('working', { taskId })
  await present('active')
  const text = task.history
    .at(-1)
    .parts.map((part) => part.text ?? '')
    .join(' ')
  const words = text.split(/\s+/).filter(Boolean).length
  await move('completed', version, {
    artifacts: [{ name: 'answer', parts: [{ text: `${words} words, ${text.length} characters` }] }],
  })
  say('completed', { taskId })
  await present('idle')
}

/** Standard Webhooks: HMAC-SHA256 over id, time and body; at most five minutes old. */
function isGenuine(headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures = '' } = headers
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false
  const secret = Buffer.from(signingKey.slice('whsec_'.length), 'base64')
  const expected = createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(body).digest()
  return signatures.split(' ').some((entry) => {
    const given = Buffer.from(entry.replace(/^v1,/, ''), 'base64')
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
}

/** Any answer may have mail. A call that does not read the mail says so in its header, and the mail waits. */
async function call(method, path, body, mail = { 'Rouse-Pending-Signals': 'none' }) {
  const session = sessionId === undefined ? {} : { 'Rouse-Session': sessionId }
  const response = await fetch(gateway + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...session, ...mail },
    body: body && JSON.stringify(body),
  })
  const answer = await response.json()
  // A newer process speaks for the agent now: its subscription gets the wakes.
  if (answer.code === 'session-ended') leaveTo(answer)
  if (!response.ok) throw new Error(`${method} ${path}: ${answer.detail}`)
  return answer
}

function leaveTo({ reason }) {
  say('ended', { reason })
  process.exit(0)
}

/** Returns an object with those of the named fields that `from` has. */
function pick(from, ...names) {
  return Object.fromEntries(names.filter((name) => name in from).map((name) => [name, from[name]]))
}

function say(what, details) {
  const at = performance.timeOrigin + performance.now()
  console.log(JSON.stringify({ at, what, ...details }))
}
