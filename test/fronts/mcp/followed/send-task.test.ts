import { expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/lib/json.ts'
import { startGateway, type TestAgent, type TestGateway } from '../../../support/gateway.ts'
import { type Follower, overHttp } from './wire.ts'

interface Desk {
  readonly gateway: TestGateway
  readonly donna: TestAgent
  readonly bob: TestAgent
  readonly client: Follower
  /** Sends a task to @bob as an MCP task. */
  send(args?: JsonObject): Promise<{ readonly mcpTask: string; readonly id: string }>
}

async function openDesk(): Promise<Desk & AsyncDisposable> {
  const gateway = await startGateway()
  const [donna, bob] = [await gateway.addAgent('donna'), await gateway.addAgent('bob')]
  const client = overHttp(gateway, donna)
  return {
    gateway,
    donna,
    bob,
    client,
    async send(args = {}) {
      const sent = await client.run('send_task', { to: '@bob', text: 'Review PR 7', ...args })
      expect(sent).toMatchObject({ resultType: 'task', status: 'working', ttlMs: null, pollIntervalMs: 1_000 })
      const { body } = await gateway.call('GET', '/v1/tasks?pageSize=1', undefined, bob)
      return { mcpTask: sent.taskId, id: body.tasks[0].id }
    },
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  }
}

test('a task that was sent is an MCP task: no content, and an id of 192 random bits', async () => {
  await using desk = await openDesk()
  const sent = await desk.client.run('send_task', { to: '@bob', text: 'Review PR 7', wait: true })
  expect(Object.keys(sent).sort()).toEqual(
    ['_meta', 'createdAt', 'lastUpdatedAt', 'pollIntervalMs', 'resultType', 'status', 'taskId', 'ttlMs'].sort(),
  )
  expect(sent.taskId).toMatch(/^follower_[\w-]{32}$/)
})

test.each([
  ['completed', 'get_task shows all of it', false],
  ['failed', 'get_task says why', true],
  ['rejected', 'get_task says why', true],
  ['input-required', 'answer with send_task and taskId', false],
  ['auth-required', 'your user may give', false],
])('the held poll ends when the task is %s', async (to, says, isError) => {
  await using desk = await openDesk()
  const { gateway, bob, client } = desk
  const { mcpTask, id } = await desk.send()
  const polled = client.ask('tasks/get', { taskId: mcpTask })
  const sentAt = performance.now()
  await gateway.move(bob, id, to, { message: 'I have looked at it.' })
  const { status, result, ...task } = await polled
  expect(performance.now() - sentAt).toBeLessThan(5_000)
  expect(status).toBe('completed')
  expect(task).toMatchObject({ taskId: mcpTask, ttlMs: null, resultType: 'complete' })
  expect(result).toMatchObject({ resultType: 'complete', structuredContent: { taskId: id, state: to } })
  expect(result.isError === true).toBe(isError)
  // A client may show the fields alone, or the text alone.
  for (const shown of [result.structuredContent.next, result.content[0].text]) {
    expect(shown).toContain(`The task ${id} that you sent is ${to}.`)
    expect(shown).toContain(says)
  }
  expect(result.structuredContent.task.statusMessage.text).toBe('I have looked at it.')
  expect(result.content[0].text).toContain('Texts of other agents')
})

test('a task that its originator cancels ends the MCP task', async () => {
  await using desk = await openDesk()
  const { mcpTask, id } = await desk.send()
  const polled = desk.client.ask('tasks/get', { taskId: mcpTask })
  await desk.gateway.move(desk.donna, id, 'canceled')
  expect(await polled).toMatchObject({ status: 'completed', result: { structuredContent: { state: 'canceled' } } })
})

test('after a question the answer is a new MCP task for the same A2A task', async () => {
  await using desk = await openDesk()
  const { gateway, bob, client } = desk
  const first = await desk.send()
  await gateway.move(bob, first.id, 'input-required', { message: 'Which branch?' })
  expect((await client.followed(first.mcpTask)).result.structuredContent.state).toBe('input-required')
  const second = await desk.send({ taskId: first.id, text: 'main' })
  expect(second.id).toBe(first.id)
  expect(second.mcpTask).not.toBe(first.mcpTask)
  await gateway.move(bob, first.id, 'completed')
  expect((await client.followed(second.mcpTask)).result.structuredContent.state).toBe('completed')
  // The end of the first one stays an end, and shows the task as it is now.
  expect(await client.followed(first.mcpTask)).toMatchObject({
    status: 'completed',
    result: { structuredContent: { state: 'completed' } },
  })
})

test('an answer that is there within a moment is a plain answer', async () => {
  await using desk = await openDesk()
  const { gateway, donna, bob, client } = desk
  const first = await desk.send({ idempotencyKey: 'once' })
  await gateway.move(bob, first.id, 'completed', { message: 'Done.' })
  const again = await client.run('send_task', { to: '@bob', text: 'Review PR 7', idempotencyKey: 'once' })
  expect(again.resultType).toBe('complete')
  expect(again.structuredContent).toMatchObject({ taskId: first.id, state: 'completed' })
  const { body } = await gateway.call('GET', '/v1/followers', undefined, donna)
  expect(body.followers).toHaveLength(1)
})

test('two polls of one task both get the end', async () => {
  await using desk = await openDesk()
  const { mcpTask, id } = await desk.send()
  const polls = [desk.client.followed(mcpTask), desk.client.followed(mcpTask)]
  await desk.gateway.move(desk.bob, id, 'completed')
  for (const poll of polls) expect((await poll).status).toBe('completed')
  const { turns } = (await desk.gateway.call('GET', '/v1/turns', undefined, desk.donna)).body
  expect(turns).toMatchObject([{ act: 'wake', route: 'mcp-tasks', senders: ['@bob'], threadId: id }])
})

test('to cancel ends the following alone, twice is as once, and it says how to cancel the work', async () => {
  await using desk = await openDesk()
  const { gateway, bob, client } = desk
  const { mcpTask, id } = await desk.send()
  for (let times = 0; times < 2; times++)
    expect(await client.ask('tasks/cancel', { taskId: mcpTask })).toMatchObject({ resultType: 'complete' })
  const task = await client.ask('tasks/get', { taskId: mcpTask })
  expect(task.status).toBe('cancelled')
  expect(task.statusMessage).toContain('move_task with canceled')
  expect((await gateway.move(bob, id, 'completed')).status).toBe(200)
  expect((await client.ask('tasks/get', { taskId: mcpTask })).status).toBe('cancelled')
})

test('an update is acknowledged, and changes nothing', async () => {
  await using desk = await openDesk()
  const { mcpTask, id } = await desk.send()
  const update = { taskId: mcpTask, inputResponses: { a: { action: 'accept', content: {} } } }
  expect(await desk.client.ask('tasks/update', update)).toMatchObject({ resultType: 'complete' })
  const { body } = await desk.gateway.call('GET', `/v1/tasks/${id}`, undefined, desk.donna)
  expect(body).toMatchObject({ state: 'submitted', version: 1 })
})

test('the ids of others, unknown ones and expired ones get the same words', async () => {
  await using desk = await openDesk()
  const { gateway, donna, bob, client } = desk
  const { body: old } = await gateway.call('POST', '/v1/agents/donna/keys', { label: 'old' })
  const { mcpTask } = await desk.send()
  // A key that was made before is not rotated to: it began the task, or it is another's.
  const { body: made } = await gateway.call('POST', '/v1/agents/donna/keys', { label: 'new' }, donna)
  const others = [overHttp(gateway, bob), overHttp(gateway, { key: gateway.adminKey })]
  const asked = [
    ...others.map((other) => [other, mcpTask] as const),
    ...['x'.repeat(32), '../x', '', 7, undefined].map((id) => [client, id] as const),
  ]
  const answers = []
  for (const [other, taskId] of asked)
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
      answers.push(await other.ask(method, taskId === undefined ? {} : { taskId: taskId as string }))
  const words = new Set(answers.filter(({ code }) => code === -32602).map(({ message }) => message))
  expect([...words]).toEqual(['There is no such task, or it has expired.'])
  // An operator follows nothing.
  expect(answers.filter(({ code }) => code !== -32602).map(({ code }) => code)).toEqual([-32603, -32603, -32603])
  expect((await overHttp(gateway, { key: made.apiKey }).ask('tasks/update', { taskId: mcpTask })).resultType).toBe(
    'complete',
  )
  const newer = await overHttp(gateway, { key: made.apiKey }).run('send_task', { to: '@bob', text: 'More' })
  expect((await client.ask('tasks/update', { taskId: newer.taskId })).code).toBe(-32602)
  expect(old.apiKey).toBeDefined()
})

test('a key that may only send gets the plain answer', async () => {
  await using desk = await openDesk()
  const { body } = await desk.gateway.call('POST', '/v1/agents/donna/keys', { scopes: ['send'] }, desk.donna)
  const sent = await overHttp(desk.gateway, { key: body.apiKey }).run('send_task', { to: '@bob', text: 'Hello' })
  expect(sent).toMatchObject({ resultType: 'complete', structuredContent: { state: 'submitted' } })
})
