import type { TestAgent } from '../support/gateway.ts'
import { type Arrange, exchange, type Request, type World } from './exchange.ts'
import type { FixtureCase } from './fixture.ts'

const missingTask = '00000000-0000-4000-8000-000000000000'
const v1 = { 'A2A-Version': '1.0' }
const v03 = { 'A2A-Version': '0.3' }
const message = { messageId: 'message-1', role: 'ROLE_USER', parts: [{ text: 'Please review PR 7' }] }
const legacyMessage = {
  kind: 'message',
  messageId: 'message-1',
  role: 'user',
  parts: [{ kind: 'text', text: 'Please review PR 7' }],
}

export const a2aCases: readonly FixtureCase[] = [
  a2a('send-message', 'A message that starts a task, without waiting for the end.', async (world) => {
    await donna(world)
    return rpc('SendMessage', { message, configuration: { returnImmediately: true } })
  }),
  a2a('send-message-answered', 'A reply to a task that requires input puts it back to work.', async (world) => {
    const { id, contextId } = await task(world, 'input-required')
    const reply = { ...message, messageId: 'message-2', taskId: id, contextId, parts: [{ text: 'The main branch.' }] }
    return rpc('SendMessage', { message: reply, configuration: { returnImmediately: true } })
  }),
  a2a(
    'send-streaming-message',
    'The task, and every change of it until it is finished, as server-sent events.',
    streamed,
  ),
  a2a('get-task', 'A finished task with its history and its artifact.', async (world) => {
    const { id } = await task(world, 'completed')
    return rpc('GetTask', { id })
  }),
  a2a('list-tasks', 'The tasks of an agent, the newest first.', async (world) => {
    await task(world, 'working')
    return rpc('ListTasks', { pageSize: 10 })
  }),
  a2a('cancel-task', 'The originator takes a task back.', async (world) => {
    const { id } = await task(world, 'working')
    return rpc('CancelTask', { id })
  }),
  a2a('task-not-found', 'No such task, or not yours.', async (world) => {
    await donna(world)
    return rpc('GetTask', { id: missingTask })
  }),
  a2a('task-not-cancelable', 'A finished task stays finished.', async (world) => {
    const { id } = await task(world, 'completed')
    return rpc('CancelTask', { id })
  }),
  a2a(
    'task-takes-no-messages',
    'A finished task takes no more messages; the error says how to go on.',
    async (world) => {
      const { id } = await task(world, 'completed')
      return rpc('SendMessage', { message: { ...message, messageId: 'message-2', taskId: id } })
    },
  ),
  a2a('invalid-params', 'A message without an id: the field is named.', async (world) => {
    await donna(world)
    return rpc('SendMessage', { message: { ...message, messageId: '' } })
  }),
  a2a('method-not-found', 'A method of the other version.', async (world) => {
    await donna(world)
    return rpc('message/send', { message: legacyMessage })
  }),
  a2a('parse-error', 'The body is no JSON.', async (world) => {
    await donna(world)
    return { ...rpc('', {}), body: '{"jsonrpc": "2.0",' }
  }),
  a2a('version-not-supported', 'A version that nobody speaks yet.', async (world) => {
    await donna(world)
    return rpc('GetTask', { id: missingTask }, { 'A2A-Version': '9.9' })
  }),
  a2a('unauthenticated', 'Sending takes a key.', async (world) => {
    await donna(world)
    return { ...rpc('SendMessage', { message }), key: null }
  }),
  a2a('rest-send-message', 'The same over HTTP+JSON.', async (world) => {
    await donna(world)
    const body = { message, configuration: { returnImmediately: true } }
    return { method: 'POST', path: '/agents/donna/message:send', headers: v1, body }
  }),
  a2a('rest-task-not-found', 'An error over HTTP+JSON is a google.rpc.Status.', async (world) => {
    await donna(world)
    return { method: 'GET', path: `/agents/donna/tasks/${missingTask}`, headers: v1 }
  }),
  a2a('v0.3-send-message', 'A2A v0.3: a message that starts a task, without waiting.', async (world) => {
    await donna(world)
    return rpc('message/send', { message: legacyMessage, configuration: { blocking: false } }, v03)
  }),
  a2a('v0.3-get-task', 'A2A v0.3: a finished task.', async (world) => {
    const { id } = await task(world, 'completed')
    return rpc('tasks/get', { id }, v03)
  }),
]

function a2a(name: string, shows: string, arrange: Arrange): FixtureCase {
  return { folder: `a2a/${name}`, shows, render: () => exchange(arrange) }
}

function rpc(method: string, params: object, headers: Record<string, string> = v1): Request {
  return { method: 'POST', path: '/agents/donna', headers, body: { jsonrpc: '2.0', id: 1, method, params } }
}

function donna({ gateway }: World): Promise<TestAgent> {
  return gateway.addAgent('@donna')
}

async function task(world: World, to: 'working' | 'input-required' | 'completed') {
  const agent = await donna(world)
  const sent = await world.gateway.send('@donna', '', { message })
  world.clock.advance(1000)
  await work(world, agent, sent.id, to)
  return sent
}

async function work({ gateway, clock }: World, agent: TestAgent, id: string, to: string): Promise<void> {
  await gateway.move(agent, id, 'working')
  clock.advance(1000)
  if (to === 'input-required')
    await gateway.move(agent, id, to, {
      message: { messageId: 'message-of-donna', parts: [{ text: 'Which branch?' }] },
    })
  if (to === 'completed') {
    const artifacts = [{ artifactId: 'review', name: 'review.md', parts: [{ text: 'Looks good.' }] }]
    await gateway.move(agent, id, to, { artifacts })
  }
  clock.advance(1000)
}

/** The assignee does its work while the client reads along. */
async function streamed(world: World): Promise<Request> {
  const agent = await donna(world)
  const meanwhile = async () => {
    const { body } = await world.gateway.call('GET', '/v1/tasks')
    await work(world, agent, body.tasks[0].id, 'completed')
  }
  return { ...rpc('SendStreamingMessage', { message }), meanwhile: [['', meanwhile]] }
}
