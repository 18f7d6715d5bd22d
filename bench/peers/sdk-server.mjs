// An A2A server as the SDK's documentation builds one: Express, DefaultRequestHandler, tasks in memory, no authentication,
// and an executor that publishes a submitted task. A process of its own; its first message is its port.
import { once } from 'node:events'
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server'
import { jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express'
import express from 'express'

const submitted = 1

const executor = {
  async execute({ taskId, contextId, userMessage }, eventBus) {
    const status = { state: submitted, message: undefined, timestamp: new Date().toISOString() }
    const task = { id: taskId, contextId, status, artifacts: [], history: [userMessage], metadata: undefined }
    eventBus.publish(AgentEvent.task(task))
    eventBus.finished()
  },
  async cancelTask() {},
}

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

const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor)
const app = express()
app.use('/', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }))
const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
process.on('disconnect', () => process.exit(0))
process.send({ port: server.address().port })
