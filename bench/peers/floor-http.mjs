// The least that a durable SendMessage costs over HTTP: Node's own server, the key hashed and looked up, the body parsed, one transaction,
// one answer. No router, no checks. A process of its own; its first message is its port.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { openMessageStore } from './floor-store.mjs'

const store = openMessageStore()
const callers = new Map()

function callerOf({ authorization = '' }) {
  const hash = createHash('sha256').update(authorization).digest('base64')
  const known = callers.get(hash)
  if (!known) callers.set(hash, hash)
  return known
}

const server = createServer((req, res) => {
  const chunks = []
  req.on('data', (chunk) => chunks.push(chunk))
  req.on('end', async () => {
    callerOf(req.headers)
    const { id: rpcId, params } = JSON.parse(Buffer.concat(chunks).toString())
    const { id, contextId, createdAt, stamped } = await store(params.message)
    const status = { state: 'TASK_STATE_SUBMITTED', timestamp: new Date(createdAt).toISOString() }
    const text = JSON.stringify({
      jsonrpc: '2.0',
      id: rpcId,
      result: { task: { id, contextId, status, history: [stamped] } },
    })
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    res.end(text)
  })
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
process.on('disconnect', () => process.exit(0))
process.send({ port: server.address().port })
