import { expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { logLines } from '../support/log-lines.ts'
import { startReceiver } from '../support/receiver.ts'

const stateOf = async (gateway: TestGateway, agent: TestAgent, id: string) => {
  const { body } = await gateway.call('GET', `/v1/tasks/${id}`, undefined, { key: agent.key })
  return body
}

test('removing an agent rejects the open tasks that are assigned to it, says how many, and wakes their originators', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  await gateway.subscribe(lola, receiver.url)
  const [open, taken, done] = [
    await gateway.send('donna', 'one', { key: lola.key }),
    await gateway.send('donna', 'two', { key: lola.key }),
    await gateway.send('donna', 'three', { key: lola.key }),
  ]
  const sent = await gateway.send('lola', 'four', { key: donna.key })
  await gateway.move(donna, taken.id, 'working')
  await gateway.move(donna, done.id, 'completed')

  const removed = await gateway.call('DELETE', '/v1/agents/donna')
  expect([removed.status, removed.body]).toEqual([200, { agent: '@donna', tasksRejected: 2 }])
  for (const { id } of [open, taken]) {
    expect(await stateOf(gateway, lola, id)).toMatchObject({ state: 'rejected', reason: 'agent-removed' })
  }
  expect(await stateOf(gateway, lola, done.id)).toMatchObject({ state: 'completed' })
  expect(await stateOf(gateway, lola, sent.id)).toMatchObject({ state: 'submitted' })
  const wakes = await receiver.waitFor(5)
  const rejections = wakes.map(({ body }) => body.payload).filter(({ newState }) => newState === 'Rejected')
  expect(rejections.map(({ taskId }) => taskId).sort()).toEqual([open.id, taken.id].sort())
})

test('a hundred and more are rejected in several transactions, and all are counted', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('donna')
  for (let sent = 0; sent < 105; sent += 15) {
    await Promise.all(Array.from({ length: 15 }, (_, i) => gateway.send('donna', `task ${sent + i}`)))
  }
  expect((await gateway.call('DELETE', '/v1/agents/donna')).body.tasksRejected).toBe(105)
  const { body } = await gateway.call('GET', '/v1/tasks?state=submitted')
  expect(body.tasks).toEqual([])
})

test('an agent without tasks has none rejected; one that is unknown is not found; freed names reject nothing', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('donna')
  expect((await gateway.call('DELETE', '/v1/agents/donna')).body).toEqual({ agent: '@donna', tasksRejected: 0 })
  expect((await gateway.call('DELETE', '/v1/agents/donna')).status).toBe(404)
  expect((await gateway.call('DELETE', '/v1/agents/donna?freeNames=true')).body).toEqual({
    agent: '@donna',
    tasksRejected: 0,
  })
})

test('the session that ends with its agent is a line of the log', async () => {
  const { log, of } = logLines('info')
  await using gateway = await startGateway({ overrides: { log } })
  const donna = await gateway.addAgent('donna')
  await gateway.call('POST', '/v1/sessions', { surface: 'codex' }, { key: donna.key })
  await gateway.call('DELETE', '/v1/agents/donna')
  expect(of('session.ended')).toMatchObject([{ agent: '@donna', surface: 'codex', reason: 'removed' }])
})
