import { expect, test } from 'vitest'
import { type Answer, liftRates, startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'

const max = 60
const url = 'http://127.0.0.1:9/dead'
const subscribing = { trigger: 'SENT_TO_ME', harnessTarget: 'a2a-webhook', harnessTargetMetadata: { url } }
const subscribe = (gateway: TestGateway, agent: TestAgent) =>
  gateway.call('POST', '/v1/wake-subscriptions', subscribing, agent)

async function many(count: number, call: () => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = []
  const worker = async () => {
    while (count-- > 0) answers.push(await call())
  }
  await Promise.all(Array.from({ length: 50 }, worker))
  return answers
}

test('of 180 subscriptions of one agent to dead receivers as many as its project allows are accepted; others subscribe, and are woken', async () => {
  await using gateway = await startGateway()
  await liftRates(gateway)
  await gateway.call('PATCH', '/v1/projects/default', { limits: { subscriptions: max } })
  await using receiver = await startReceiver()
  const mallory = await gateway.addAgent('mallory')
  const bob = await gateway.addAgent('bob')
  const answers = await many(3 * max, () => subscribe(gateway, mallory))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(max)
  const refused = answers.find(({ status }) => status === 429)!
  expect(refused.body).toMatchObject({
    code: 'limit-exceeded',
    limit: 'subscriptions',
    max,
    detail: expect.stringContaining('Remove those that are not in use.'),
  })
  await gateway.subscribe(bob, receiver.url)
  await gateway.send('bob', 'hello')
  await receiver.waitFor(1)
  const { body } = await gateway.call('GET', '/v1/wake-subscriptions', undefined, mallory)
  expect([body.subscriptions.length, body.nextPageToken]).toEqual([max, ''])
  const [{ subscriptionId }] = body.subscriptions
  await gateway.call('DELETE', `/v1/wake-subscriptions/${subscriptionId}`, undefined, mallory)
  expect((await subscribe(gateway, mallory)).status).toBe(201)
})

async function pages(gateway: TestGateway, path: string, field: string, key: string, limit: number) {
  const items: Record<string, string>[] = []
  const sizes: number[] = []
  for (let token = ''; ; ) {
    const more = path.includes('?') ? '&' : '?'
    const at = `${path}${more}limit=${limit}${token && `&pageToken=${encodeURIComponent(token)}`}`
    const { status, body } = await gateway.call('GET', at, undefined, { key })
    if (status !== 200) throw new Error(JSON.stringify(body))
    items.push(...body[field])
    sizes.push(body[field].length)
    token = body.nextPageToken
    if (!token) return { items, sizes }
  }
}

test('lists come page by page, each of their items once and in order', async () => {
  await using gateway = await startGateway()
  const agents = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((handle) => gateway.addAgent(handle)))
  const [a, b] = agents as [TestAgent, TestAgent]
  for (const agent of [a, b, a, b, a]) await subscribe(gateway, agent)
  const own = await pages(gateway, '/v1/wake-subscriptions', 'subscriptions', a.key, 2)
  expect(own.sizes).toEqual([2, 1])
  const all = await pages(gateway, '/v1/wake-subscriptions', 'subscriptions', gateway.adminKey, 2)
  expect(all.sizes).toEqual([2, 2, 1])
  expect(all.items.map(({ agentIdentity }) => agentIdentity).sort()).toEqual(['@a', '@a', '@a', '@b', '@b'])
  const ids = all.items.map(({ subscriptionId }) => subscriptionId)
  expect(ids).toEqual([...new Set(ids)].sort())

  const team = await pages(gateway, '/v1/agents', 'agents', a.key, 2)
  expect([team.sizes, team.items.map(({ handle }) => handle)]).toEqual([
    [2, 2, 1],
    ['@a', '@b', '@c', '@d', '@e'],
  ])
  for (let n = 0; n < 4; n++) await gateway.call('POST', '/v1/agents/a/keys', { label: `k${n}` }, a)
  const keys = await pages(gateway, '/v1/agents/a/keys', 'keys', a.key, 2)
  expect(keys.sizes).toEqual([2, 2, 1])
  expect(new Set(keys.items.map(({ keyId }) => keyId)).size).toBe(5)
  const scopes = ['CAN_REPLY_TO', 'CAN_READ_INBOX_OF', 'CAN_READ_MEMORIES_OF']
  for (const scope of scopes) await gateway.call('POST', '/v1/permissions', { grantee: 'b', scope }, a)
  await gateway.call('POST', '/v1/permissions', { grantee: 'a', scope: 'CAN_REPLY_TO' }, b)
  for (const key of [a.key, gateway.adminKey]) {
    const grants = await pages(gateway, '/v1/permissions', 'permissions', key, 3)
    expect([grants.sizes, grants.items.map(({ scope }) => scope)]).toEqual([
      [3, 1],
      [...scopes, 'CAN_REPLY_TO'],
    ])
    const some = await pages(gateway, '/v1/permissions?scope=CAN_REPLY_TO', 'permissions', key, 1)
    expect(some.items.map(({ grantor }) => grantor)).toEqual(['@a', '@b'])
    expect((await pages(gateway, '/v1/permissions?grantee=b', 'permissions', key, 5)).items).toHaveLength(3)
  }
  for (const [query, field] of [
    ['limit=0', 'limit'],
    ['limit=501', 'limit'],
    ['pageToken=xx', 'pageToken'],
  ] as const) {
    const { status, body } = await gateway.call('GET', `/v1/wake-subscriptions?${query}`, undefined, a)
    expect([status, body.field]).toEqual([400, field])
  }
})

test('tests, resyncs and replays have rates of their own', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url)
  const limits = { heavyPerMinute: 3 }
  await gateway.call('PATCH', '/v1/projects/default', { limits })
  const act = (name: string, body?: object) => gateway.call('POST', `/v1/wake-subscriptions/${id}/${name}`, body, donna)
  for (let n = 0; n < 3; n++) expect((await act('test')).status).toBe(200)
  expect((await act('test')).body).toMatchObject({ code: 'rate-limited', limitName: 'heavyPerMinute' })
  expect(receiver.wakes).toHaveLength(3)
  for (let n = 0; n < 3; n++) await act('replay', { fromLogId: 1, toLogId: 1 })
  expect((await act('replay', { fromLogId: 1, toLogId: 1 })).body.limitName).toBe('heavyPerMinute')
  for (let n = 0; n < 3; n++) expect((await act('resync', { sinceLogId: 0 })).status).toBe(200)
  expect((await act('resync', { sinceLogId: 0 })).body.limitName).toBe('heavyPerMinute')
  expect((await gateway.call('POST', `/v1/wake-subscriptions/${id}/test`)).status).toBe(200)
})
