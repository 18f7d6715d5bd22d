// An agent in a process of its own. It knows the gateway's REST, its own webhook and what its surface is, and works by itself:
// it reviews what others send for review and thanks for what it gets. Lines on stdin are calls to make; lines on stdout are what happened.
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'

const { GATEWAY_URL, GATEWAY_KEY, ROUSE_AGENT_SURFACE, AGENT_IS_WOKEN } = process.env
const startedAt = new Date(Date.now() - process.uptime() * 1000).toISOString()

let sessionId

const tell = (line) => console.log(JSON.stringify(line))

async function call(method, path, body) {
  const response = await fetch(GATEWAY_URL + path, {
    method,
    headers: {
      authorization: `Bearer ${GATEWAY_KEY}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...(sessionId ? { 'rouse-session': sessionId } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const text = await response.text()
  const answer = { status: response.status, body: text ? JSON.parse(text) : undefined }
  const how = path === '/v1/sessions' ? 'startup_drain' : 'piggyback'
  for (const signal of answer.body?.pendingSignals ?? []) await receive(how, signal)
  return answer
}

async function receive(how, signal) {
  tell({ received: how, at: Date.now(), signal })
  const send = (mail) => call('POST', '/v1/messages', mail)
  if (signal.signal_type === 'ReviewRequested') {
    const { spec_id } = signal.payload
    await send({
      to: signal.from,
      inReplyTo: signal.signal_id,
      signalType: 'ReviewCompleted',
      payload: { spec_id, summary: 'Five layers', gaps: ['§5', '§6'], recommendation: 'Accept with amendments' },
    })
  }
  if (signal.signal_type === 'ReviewCompleted') {
    await send({
      to: signal.from,
      inReplyTo: signal.in_reply_to,
      signalType: 'Acknowledgment',
      payload: { message: 'Thanks. Received your review.' },
    })
  }
}

async function listen() {
  const server = createServer((req, res) => {
    let text = ''
    req.on('data', (chunk) => (text += chunk))
    req.on('end', async () => {
      res.end()
      const { eventType, payload } = JSON.parse(text)
      if (eventType !== 'wake/sent_to_me') return
      const { body: mail } = await call('GET', `/v1/messages/${encodeURIComponent(payload.messageId)}`)
      await receive('push', {
        signal_id: mail.messageId,
        signal_type: mail.signalType,
        from: mail.from,
        subject: mail.subject,
        payload: mail.payload,
        in_reply_to: mail.inReplyTo,
        thread_id: mail.threadId,
      })
    })
  })
  await new Promise((done) => server.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${server.address().port}/`
  const { body } = await call('POST', '/v1/wake-subscriptions', {
    trigger: 'SENT_TO_ME',
    harnessTarget: 'a2a-webhook',
    harnessTargetMetadata: { url, coalesceWindow: 0 },
  })
  return async () => {
    await call('DELETE', `/v1/wake-subscriptions/${body.subscriptionId}`)
    server.close()
  }
}

const unlisten = AGENT_IS_WOKEN ? await listen() : async () => {}
const { body: session } = await call('POST', '/v1/sessions', {
  surface: ROUSE_AGENT_SURFACE,
  pid: process.pid,
  startedAt,
})
sessionId = session.sessionId
tell({ ready: sessionId })
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, path, body } = JSON.parse(line)
  tell({ id, answer: await call(method, path, body) })
}
await unlisten()
await call('DELETE', `/v1/sessions/${sessionId}`)
