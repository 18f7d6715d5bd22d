// An agent of the Agent Client Protocol. The words of a prompt say what it does: hold, ask, die, fail. It writes down what it reads.
const { appendFileSync } = require('node:fs')

const [version, log] = process.argv.slice(2)
const isSecond = version === '2'
const open = new Map()
let text = ''

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const update = (sessionId, body) => say({ method: 'session/update', params: { sessionId, update: body } })
const answer = (id, result) => say({ id, result })

function end(sessionId, stopReason) {
  const id = open.get(sessionId)
  if (id === undefined) return
  open.delete(sessionId)
  if (isSecond) update(sessionId, { sessionUpdate: 'state_update', state: 'idle', stopReason })
  else answer(id, { stopReason })
}

function prompt(id, { sessionId, prompt: [{ text: said }] }) {
  if (said.includes('fail')) return say({ id, error: { code: -32000, message: 'Authentication required' } })
  if (said.includes('die')) process.exit(7)
  open.set(sessionId, id)
  if (isSecond) {
    answer(id, {})
    update(sessionId, { sessionUpdate: 'state_update', state: 'running' })
    update(sessionId, { sessionUpdate: 'user_message', messageId: 'm1', content: [{ type: 'text', text: said }] })
  }
  if (said.includes('silent')) return
  update(sessionId, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'I look.' } })
  if (said.includes('ask')) say({ id: 1, method: 'session/request_permission', params: { sessionId, options: [] } })
  else if (!said.includes('hold')) end(sessionId, 'end_turn')
}

const methods = {
  initialize: (id) => answer(id, { protocolVersion: Number(version), agentCapabilities: {} }),
  'session/new': (id) => answer(id, { sessionId: `s${id}` }),
  'session/prompt': prompt,
  'session/cancel': (_id, { sessionId }) => end(sessionId, 'cancelled'),
}

process.stdin.setEncoding('utf8').on('data', (chunk) => {
  appendFileSync(log, chunk)
  const lines = (text + chunk).split('\n')
  text = lines.pop()
  for (const line of lines) {
    let message = {}
    try {
      message = JSON.parse(line)
    } catch {}
    if (message.method) methods[message.method]?.(message.id, message.params)
    else if (message.id === 1) for (const sessionId of [...open.keys()]) end(sessionId, 'end_turn')
  }
})
process.stdin.on('end', () => process.exit(0))
