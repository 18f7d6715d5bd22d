// The same floor behind Express and the SDK's JSON-RPC transport: what remains of a gateway when nothing of it is ours. The classes of
// messages have Express's prototypes from the start, which halves what Express costs. A process of its own; its first message is its port.
import { once } from 'node:events'
import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import { jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express'
import express from 'express'
import { openMessageStore } from './floor-store.mjs'

const submitted = 1
const store = openMessageStore()
const card = {
  name: 'peer',
  description: 'Takes tasks.',
  version: '1.0.0',
  supportedInterfaces: [{ url: 'http://127.0.0.1/', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' }],
  capabilities: { streaming: true, pushNotifications: false, extensions: [] },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
  securitySchemes: {},
  securityRequirements: [],
  signatures: [],
}
const requestHandler = {
  getAgentCard: async () => card,
  async sendMessage({ message }) {
    const { id, contextId, createdAt, stamped } = await store(message)
    const status = { state: submitted, message: undefined, timestamp: new Date(createdAt).toISOString() }
    return { id, contextId, status, history: [stamped], artifacts: [], metadata: undefined }
  },
}

const app = express()
app.use('/', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }))
class Request extends IncomingMessage {}
class Response extends ServerResponse {}
Object.setPrototypeOf(Request.prototype, app.request)
Object.setPrototypeOf(Response.prototype, app.response)
app.request = Request.prototype
app.response = Response.prototype
const server = createServer({ IncomingMessage: Request, ServerResponse: Response }, app)
server.listen(0, '127.0.0.1')
await once(server, 'listening')
process.on('disconnect', () => process.exit(0))
process.send({ port: server.address().port })
