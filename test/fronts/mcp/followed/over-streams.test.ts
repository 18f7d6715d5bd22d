import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serveOnPair } from '../../../cli/mcp/start-mcp-pair.ts'
import { startGateway, type TestAgent, type TestGateway } from '../../../support/gateway.ts'
import { declared, overStreams } from './wire.ts'

const taskOf = async (gateway: TestGateway, bob: TestAgent): Promise<string> =>
  (await gateway.call('GET', '/v1/tasks?pageSize=1', undefined, bob)).body.tasks[0].id

test('rouse mcp answers with a task, and holds its polls', async () => {
  await using gateway = await startGateway()
  const [donna, bob] = [await gateway.addAgent('donna'), await gateway.addAgent('bob')]
  const { theirs, close } = serveOnPair({ url: gateway.url, key: donna.key })
  const client = await overStreams(theirs)
  expect((await client.ask('server/discover')).capabilities.extensions).toEqual(declared.extensions)
  const sent = await client.run('send_task', { to: '@bob', text: 'Review PR 7' })
  expect(sent).toMatchObject({ resultType: 'task', status: 'working' })
  expect(sent).not.toHaveProperty('content')
  const plain = await client.run('send_task', { to: '@bob', text: 'Another one' }, {})
  expect(plain).toMatchObject({ resultType: 'complete', structuredContent: { state: 'submitted' } })
  const polled = client.ask('tasks/get', { taskId: sent.taskId })
  const { body } = await gateway.call('GET', '/v1/tasks?order=oldest', undefined, bob)
  await gateway.move(bob, body.tasks[0].id, 'completed', { message: 'Done.' })
  expect((await polled).result.structuredContent).toMatchObject({ state: 'completed' })
  expect((await client.ask('tasks/get', { taskId: 'x'.repeat(32) })).code).toBe(-32602)
  await close()
})

test('a poll outlives a gateway that stops and starts again, and its end is not lost', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'rouse-followed-'))
  try {
    const port = await freePort()
    const env = { ROUSE_PORT: String(port) }
    const first = await startGateway({ dataDir, env })
    const [donna, bob] = [await first.addAgent('donna'), await first.addAgent('bob')]
    const { theirs, close } = serveOnPair({ url: first.url, key: donna.key })
    const client = await overStreams(theirs)
    const sent = await client.run('send_task', { to: '@bob', text: 'Review PR 7' })
    let answered = false
    const polled = client.ask('tasks/get', { taskId: sent.taskId }).finally(() => {
      answered = true
    })
    await first.stop()
    await using second = await startGateway({ dataDir, env })
    expect(answered).toBe(false)
    await second.move(bob, await taskOf(second, bob), 'completed')
    expect(await polled).toMatchObject({ status: 'completed' })
    await close()
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
})

test('a key that is rotated is followed by the next one', async () => {
  await using gateway = await startGateway()
  const [donna, bob] = [await gateway.addAgent('donna'), await gateway.addAgent('bob')]
  let { key } = donna
  const { theirs, close } = serveOnPair({ url: gateway.url, key, credentials: async () => ({ key }) })
  const client = await overStreams(theirs)
  const sent = await client.run('send_task', { to: '@bob', text: 'Review PR 7' })
  const polled = client.ask('tasks/get', { taskId: sent.taskId })
  const { body: old } = await gateway.call('GET', '/v1/whoami', undefined, donna)
  const { body: made } = await gateway.call('POST', '/v1/agents/donna/keys', {})
  key = made.apiKey
  await gateway.call('DELETE', `/v1/agents/donna/keys/${old.keyId}`)
  // The held poll goes on with the new one.
  await gateway.move(bob, await taskOf(gateway, bob), 'completed')
  expect((await polled).status).toBe('completed')
  await close()
})

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
