import { expect, test } from 'vitest'
import { createClient, GatewayError } from '../../src/index.ts'
import { startGateway } from '../support/gateway.ts'

test('an agent sends, reads and marks mail', async () => {
  await using gateway = await startGateway()
  const donna = createClient({ url: `${gateway.url}/`, key: (await gateway.addAgent('donna')).key })
  const lola = createClient({ url: gateway.url, key: (await gateway.addAgent('lola')).key })
  const { messageId, recipients } = await lola.send({ to: '@donna', subject: 'Hello', body: 'How are you?' })
  expect(recipients).toMatchObject([{ agent: '@donna', status: 'sent' }])
  const { messages, nextPageToken } = await donna.inbox({ unread: true })
  expect(messages).toMatchObject([{ messageId, from: '@lola', subject: 'Hello', body: 'How are you?', status: 'sent' }])
  expect(nextPageToken).toBe('')
  await donna.mark(messageId, 'resolved')
  expect((await donna.inbox({ unread: true })).messages).toEqual([])
})

test('an agent lists, reads and moves its tasks', async () => {
  await using gateway = await startGateway()
  const { key } = await gateway.addAgent('donna')
  const donna = createClient({ url: gateway.url, key })
  const { id } = await gateway.send('donna', 'please')
  const [task] = (await donna.tasks.list({ state: 'submitted' })).tasks
  expect(task).toMatchObject({ id, version: 1, originator: '@operator' })
  const moved = await donna.tasks.move(id, { to: 'completed', expectedVersion: 1, message: 'Done' })
  expect(moved).toMatchObject({ state: 'completed', version: 2 })
  expect(await donna.tasks.get(id)).toMatchObject({ state: 'completed', artifacts: [] })
})

test('an agent makes, pauses, lists and removes its subscriptions', async () => {
  await using gateway = await startGateway()
  const donna = createClient({ url: gateway.url, key: (await gateway.addAgent('donna')).key })
  const made = await donna.subscriptions.make({ trigger: 'SENT_TO_ME', url: 'http://127.0.0.1:9/', coalesceWindow: 0 })
  expect(made.signingKey).toMatch(/^whsec_/)
  expect(await donna.subscriptions.setStatus(made.subscriptionId, 'paused')).toMatchObject({ status: 'paused' })
  expect((await donna.subscriptions.list()).subscriptions).toMatchObject(
    [made].map(({ subscriptionId }) => ({ subscriptionId })),
  )
  await donna.subscriptions.remove(made.subscriptionId)
  await expect(donna.subscriptions.get(made.subscriptionId)).rejects.toMatchObject({ status: 404 })
})

test('a refusal is an error with its status, its code and the whole problem; so is a gateway that is not there', async () => {
  await using gateway = await startGateway()
  const stranger = createClient({ url: gateway.url, key: 'rk_wrong' })
  const refused = await stranger.inbox().catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(GatewayError)
  expect(refused).toMatchObject({ status: 401, code: 'unauthenticated', problem: { status: 401 } })
  const nobody = createClient({ url: 'http://127.0.0.1:1', key: 'rk_1' })
  await expect(nobody.inbox()).rejects.toMatchObject({ status: undefined, code: 'unreachable' })
})

test('an operator acts in a project, and asks for what has no name of its own', async () => {
  await using gateway = await startGateway()
  const operator = createClient({ url: gateway.url, key: gateway.adminKey, project: 'web' })
  await createClient({ url: gateway.url, key: gateway.adminKey }).request('POST', '/v1/projects', {
    body: { project: 'web' },
  })
  await operator.request('POST', '/v1/agents', { body: { handle: 'zoe' } })
  expect(await operator.request('GET', '/v1/agents', { query: { limit: 10 } })).toMatchObject({
    agents: [{ handle: '@zoe' }],
  })
})
