// A harness as anybody could write one: it knows the webhook and the REST interface, and nothing else of the gateway.
// The first word of a task says what it does with the task: work, ask, auth, fail, reject, slow. Others stay submitted.
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'

const { GATEWAY_URL, GATEWAY_KEY } = process.env
let signingKey = ''
const seen = new Set()

const server = createServer((req, res) => {
  const chunks = []
  req.on('data', (chunk) => chunks.push(chunk))
  req.on('end', () => {
    const body = Buffer.concat(chunks)
    const expected = createHmac('sha256', signingKey).update(body).digest('hex')
    if (req.headers['x-neo-wake-signature'] !== expected) return res.writeHead(401).end()
    res.writeHead(204).end()
    const { eventId, payload } = JSON.parse(body.toString('utf8'))
    if (payload.newState !== 'Submitted' || seen.has(eventId)) return
    seen.add(eventId)
    act(payload.taskId).catch((error) => console.error(`harness: ${error.message}`))
  })
})

server.listen(0, '127.0.0.1', async () => {
  const url = `http://127.0.0.1:${server.address().port}/`
  const { body } = await rest('POST', '/v1/wake-subscriptions', {
    trigger: 'TASK_STATE_CHANGED',
    harnessTarget: 'a2a-webhook',
    harnessTargetMetadata: { url, coalesceWindow: 0 },
  })
  signingKey = body.signingKey
  console.log('READY')
})

// Ends with whoever started it.
process.stdin.resume()
process.stdin.on('end', () => process.exit(0))

async function act(id) {
  const { body: task } = await rest('GET', `/v1/tasks/${id}`)
  const said = task.history.filter(({ role }) => role === 'ROLE_USER').map(({ parts }) => parts[0].text ?? '')
  const reply = said.length > 1 ? said.at(-1) : undefined
  const moved = (to, fields) => move(id, to, fields)
  switch (said[0].split(' ')[0]) {
    case 'work': {
      await moved('working', { message: 'On it.' })
      const artifact = { artifactId: 'report', name: 'report', parts: [{ text: 'one ' }] }
      await rest('POST', `/v1/tasks/${id}/artifacts`, { artifact, lastChunk: false })
      await rest('POST', `/v1/tasks/${id}/artifacts`, {
        artifact: { ...artifact, parts: [{ text: 'two' }] },
        append: true,
        lastChunk: true,
      })
      return moved('completed', { message: 'Done.' })
    }
    case 'ask':
      if (reply === undefined) return moved('input-required', { message: 'Which colour?' })
      return moved('completed', { artifacts: [{ name: 'answer', parts: [{ text: `You said ${reply}.` }] }] })
    case 'auth':
      if (reply === undefined) return moved('auth-required', { message: 'Please sign in.' })
      return moved('completed', { message: `Signed in with ${reply}.` })
    case 'fail':
      await moved('working')
      return moved('failed', { message: 'It broke.' })
    case 'reject':
      return moved('rejected', { message: 'Not my work.' })
    case 'slow':
      return moved('working')
  }
}

async function move(id, to, fields = {}) {
  const { body: task } = await rest('GET', `/v1/tasks/${id}`)
  const { status, body } = await rest('POST', `/v1/tasks/${id}/transitions`, {
    to,
    expectedVersion: task.version,
    ...fields,
  })
  // 409: the other side was quicker, and canceled.
  if (status !== 200 && status !== 409) throw new Error(`${to}: ${status} ${JSON.stringify(body)}`)
}

/** A connection that was idle may be closed as a request begins on it: every call here may be made again. */
async function rest(method, path, body, triesLeft = 3) {
  const sent = fetch(GATEWAY_URL + path, {
    method,
    headers: { authorization: `Bearer ${GATEWAY_KEY}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const response = await sent.catch((error) => {
    if (triesLeft === 0) throw error
  })
  if (!response) return rest(method, path, body, triesLeft - 1)
  return { status: response.status, body: await response.json() }
}
