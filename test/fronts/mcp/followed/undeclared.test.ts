import { expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/lib/json.ts'
import { startGateway } from '../../../support/gateway.ts'
import { beginSession, post } from '../http/wire.ts'
import { declared, overHttp } from './wire.ts'

/** Capabilities of clients that do not follow tasks. */
const others: readonly (readonly [who: string, capabilities: JsonObject])[] = [
  ['the AI SDK', {}],
  ['Codex', { elicitation: { form: {} } }],
  ['Claude Code that only prints', { roots: { listChanged: true }, elicitation: { form: {}, url: {} } }],
  ['Qwen Code', { extensions: { ui: {} } }],
  ['tasks of the protocol of 2025', { tasks: { requests: { tools: { call: {} } } } }],
]

test.each(others)(
  '%s: no task, no word of tasks, and -32021 for what it has not declared',
  async (_who, capabilities) => {
    await using gateway = await startGateway()
    const [donna] = [await gateway.addAgent('donna'), await gateway.addAgent('bob')]
    const client = overHttp(gateway, donna)
    const sent = await client.run('send_task', { to: '@bob', text: 'Review PR 7' }, capabilities)
    expect(sent).toMatchObject({ resultType: 'complete', structuredContent: { state: 'submitted' } })
    const waited = await client.run('wait_for_messages', { timeoutSeconds: 1 }, capabilities)
    expect(waited).toMatchObject({ resultType: 'complete', structuredContent: { arrived: false } })
    const { body } = await gateway.call('GET', '/v1/followers', undefined, donna)
    expect(body.followers).toEqual([])

    const said = [
      await client.ask('server/discover', {}, capabilities),
      await client.ask('tools/list', {}, capabilities),
    ]
    expect(JSON.stringify(said)).not.toMatch(/modelcontextprotocol\/tasks|comes by itself: (when the task|you get)/)
    const { taskId } = await client.run('send_task', { to: '@bob', text: 'Review PR 8' })
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const refused = await client.ask(method, { taskId }, capabilities)
      expect(refused).toMatchObject({ code: -32021, data: { requiredCapabilities: declared } })
    }
  },
)

test('a session of the protocol of 2025 gets no task, whatever its client has declared', async () => {
  await using gateway = await startGateway()
  const [donna] = [await gateway.addAgent('donna'), await gateway.addAgent('bob')]
  const session = await beginSession(gateway, donna, { capabilities: declared })
  const ask = (method: string, params: object) =>
    post(gateway, donna, { jsonrpc: '2.0', id: 3, method, params }, session)
  const { body: sent } = await ask('tools/call', { name: 'send_task', arguments: { to: '@bob', text: 'Hello' } })
  expect(sent.result).toMatchObject({ structuredContent: { state: 'submitted' } })
  expect(sent.result).not.toHaveProperty('taskId')
  const { body: refused } = await ask('tasks/get', { taskId: 'x' })
  expect(refused.error.code).toBe(-32601)
})

test('the descriptions of the tools say that the answer comes by itself where it does', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const client = overHttp(gateway, donna)
  const described = async (capabilities?: JsonObject) => {
    const { tools } = await client.ask('tools/list', {}, capabilities)
    return Object.fromEntries(tools.map(({ name, description }: Record<string, string>) => [name, description]))
  }
  const [following, plain] = [await described(), await described({})]
  const differing = Object.keys(plain).filter((name) => plain[name] !== following[name])
  expect(differing).toEqual(['send_task', 'wait_for_messages'])
  for (const name of differing) expect(following[name]).toMatch(/comes by itself.*do not wait/)
  const { capabilities } = await client.ask('server/discover')
  expect(capabilities.extensions['io.modelcontextprotocol/tasks']).toEqual({})
})

test('the tools of operators are no tasks', async () => {
  await using gateway = await startGateway()
  const client = overHttp({ url: gateway.url }, { key: gateway.adminKey }, undefined, '/mcp?tools=read')
  const { capabilities } = await client.ask('server/discover')
  expect(capabilities.extensions).not.toHaveProperty('io.modelcontextprotocol/tasks')
  expect((await client.ask('tasks/get', { taskId: 'x' })).code).toBe(-32601)
})
