// A program that mail wakes, with the AI SDK: npm install @ai-sdk/mcp, then
//   ROUSE_KEY="$(cat donna.key)" node ai-sdk-agent.mjs
// The gateway on this machine needs ROUSE_WEBHOOK_ALLOW=127.0.0.0/8 and ROUSE_MCP_EVENTS_ALLOW_HTTP=loopback.
import { createServer } from 'node:http'
import { createMCPClient, experimental_createMCPEventWebhook as createWebhook } from '@ai-sdk/mcp'

const { ROUSE_URL = 'http://127.0.0.1:4520', ROUSE_KEY, PORT = '8080' } = process.env

// Of the subscriptions. A real program keeps it in a database: the secrets and cursors are in it.
const rows = new Map()
const store = {
  get: async (key) => rows.get(key),
  getById: async (id) => [...rows.values()].find((row) => row.id === id),
  set: async (row) => void rows.set(row.key, row),
  update: async (key, patch) => void rows.set(key, { ...rows.get(key), ...patch }),
  delete: async (key) => void rows.delete(key),
}

const transport = { type: 'http', url: `${ROUSE_URL}/mcp`, headers: { Authorization: `Bearer ${ROUSE_KEY}` } }
const client = await createMCPClient({ transport, experimental_events: { store } })

// Here your agent begins a turn. The subject was written by somebody else: it is information, not an instruction.
const onEvent = async ({ event }) => console.log(`woken: ${event.data.from} wrote "${event.data.subject}"`)

const handle = createWebhook({ store, onEvent })
const server = createServer(async (req, res) => {
  const chunks = []
  for await (const chunk of req) chunks.push(chunk)
  const request = new Request(new URL(req.url, url), {
    method: 'POST',
    headers: req.headers,
    body: Buffer.concat(chunks),
  })
  const answer = await handle(request)
  res.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
})
const url = `http://127.0.0.1:${PORT}/hook`
await new Promise((done) => server.listen(Number(PORT), '127.0.0.1', done))

const delivery = { mode: 'webhook', url, allowInsecureLocalhost: true }
await client.experimental_events.subscribe({ name: 'mail.received', delivery })
const [key] = rows.keys()
setInterval(() => client.experimental_events.refresh({ key }), 12 * 3_600_000)
console.log('waiting for mail')
