import { connect, type Socket } from 'node:net'
import { request } from 'undici'
import { type Attack, call, manyTimes, pause, send, type Target } from './attacker-calls.ts'

const accept = { accept: 'application/json, text/event-stream' }
const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'mallory', version: '1' } },
})
const initializesASecond = 2_000
/** As many as one key may have open. */
const unread = 50
const calls = ['list_tasks', 'get_task', 'read_inbox', 'who'] as const

/** Speaks MCP: begins sessions without end, reads none of their streams, and calls the tools and resources with the largest answers. */
export const mcpAttack: Attack = async (target, ready, signal) => {
  const task = await send(target, 'x'.repeat(3_000_000))
  await call(target, 'POST', `/v1/tasks/${task}/artifacts`, artifactOf(3_000_000))
  const sockets: Socket[] = []
  const session = await begin(target)
  for (let count = 0; count < unread && !signal.aborted; count++) sockets.push(await openUnread(target))
  ready()
  await Promise.all([
    flood(target, signal),
    manyTimes(8, signal, async (index) => {
      const name = calls[index % calls.length]!
      const args = name === 'get_task' ? { taskId: task } : {}
      const params = index % 3 === 0 ? { uri: `rouse://task/${task}` } : { name, arguments: args }
      await ask(target, session, index % 3 === 0 ? 'resources/read' : 'tools/call', params)
    }),
    // What the unread streams tell of.
    manyTimes(1, signal, async () => {
      await call(target, 'POST', '/v1/messages', JSON.stringify({ to: `@${target.handle}`, subject: 'look' }))
      await pause(100, signal)
    }),
  ])
  for (const socket of sockets) socket.destroy()
}

/** Begins sessions at a steady rate, whether or not they are answered. */
async function flood(target: Target, signal: AbortSignal): Promise<void> {
  const tickMs = 20
  let waiting = 0
  while (!signal.aborted) {
    for (let count = 0; count < (initializesASecond * tickMs) / 1_000 && waiting < 1_000; count++) {
      waiting++
      void call(target, 'POST', '/mcp', initialize, accept).then(() => waiting--)
    }
    await pause(tickMs, signal)
  }
}

async function begin({ url, key }: Target): Promise<string> {
  const headers = { ...accept, authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  for (;;) {
    const answer = await request(`${url}/mcp`, { method: 'POST', headers, body: initialize }).catch(() => undefined)
    await answer?.body.dump()
    if (answer?.statusCode !== 429) return String(answer?.headers['mcp-session-id'] ?? '')
    // The rate of new sessions is used up.
    await new Promise((done) => setTimeout(done, Number(answer.headers['retry-after'] ?? 1) * 1_000))
  }
}

/** A session whose inbox is watched by a stream that nobody reads. */
async function openUnread(target: Target): Promise<Socket> {
  const session = await begin(target)
  await ask(target, session, 'resources/subscribe', { uri: `rouse://inbox/@${target.handle}` })
  const { hostname, port } = new URL(target.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.pause()
  socket.write(
    `GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${target.key}\r\nAccept: text/event-stream\r\nMcp-Session-Id: ${session}\r\n\r\n`,
  )
  return socket
}

function ask(target: Target, session: string, method: string, params: object): Promise<string> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 2, method, params })
  return call(target, 'POST', '/mcp', body, { ...accept, 'mcp-session-id': session })
}

const artifactOf = (size: number): string => JSON.stringify({ artifact: { parts: [{ text: 'x'.repeat(size) }] } })
