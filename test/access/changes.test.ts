import { expect, test } from 'vitest'
import { a2aOperations } from '../../src/fronts/access/a2a-operations.ts'
import { isChange } from '../../src/fronts/access/changes.ts'
import { restOperations } from '../../src/fronts/rest/table.ts'
import { connect, current } from '../a2a/connect.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { type Answer, startGateway } from '../support/gateway.ts'

/** A change takes a tenth of the day. */
const perDay = 10

async function start() {
  const clock = new FakeClock()
  const gateway = await startGateway({ overrides: { clock } })
  const mallory = await gateway.addAgent('mallory')
  const bob = await gateway.addAgent('bob')
  await gateway.call('PATCH', '/v1/projects/default', { limits: { changesPerDay: perDay } })
  const change = (n: number, agent = mallory): Promise<Answer> =>
    gateway.call('PATCH', `/v1/agents/${agent.handle.slice(1)}`, { description: `version ${n}` }, agent)
  /** Changes mallory until none is left. Returns how many were made. */
  const useUp = async (): Promise<number> => {
    for (let made = 0; ; made++) {
      const { status, body } = await change(made)
      if (status === 200) continue
      expect(body).toMatchObject({ code: 'rate-limited', limitName: 'changesPerDay', limit: perDay })
      return made
    }
  }
  return { gateway, clock, mallory, bob, change, useUp, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() }
}

test('everything that the audit records is a change, but what takes stored bytes', () => {
  const recorded = [...restOperations, ...a2aOperations].filter(
    ({ audited }) => audited === 'first' || audited === 'soon',
  )
  expect(recorded.filter((operation) => !isChange(operation)).map(({ name }) => name)).toEqual([
    'task.addArtifact',
    'message.send',
    'SendMessage',
    'SendStreamingMessage',
  ])
})

test('an agent that changes without end is refused with the limit and the remedy; time gives changes back', async () => {
  await using s = await start()
  expect(await s.useUp()).toBe(perDay)
  const refused = await s.change(0)
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toBe(String(86_400 / perDay))
  expect(refused.body.detail).toContain('The operator may raise it for the project')
  // Others, messages and reads are not concerned.
  expect((await s.change(1, s.bob)).status).toBe(200)
  await s.gateway.send('bob', 'hello', { key: s.mallory.key })
  expect((await s.gateway.call('GET', '/v1/agents/bob', undefined, s.mallory)).status).toBe(200)
  s.clock.advance(2 * (86_400_000 / perDay))
  expect(await s.useUp()).toBe(2)
})

test('small acts of every kind count together, over REST and each binding of A2A', async () => {
  await using s = await start()
  const { gateway, mallory } = s
  const as = (method: string, path: string, body?: unknown) => gateway.call(method, path, body, mallory)
  const ids: string[] = []
  for (let n = 0; n < 4; n++) ids.push((await gateway.send('bob', 'a task', { key: mallory.key })).id)
  // A claim and its release, a subscription and its removal: 4 of 10.
  expect((await as('POST', '/v1/claims', { ref: 'one' })).status).toBeLessThan(300)
  expect((await as('DELETE', '/v1/claims?ref=one')).status).toBeLessThan(300)
  const target = { harnessTarget: 'a2a-webhook', harnessTargetMetadata: { url: 'http://127.0.0.1:9/' } }
  const made = await as('POST', '/v1/wake-subscriptions', { trigger: 'SENT_TO_ME', ...target })
  expect(made.status).toBe(201)
  expect((await as('DELETE', `/v1/wake-subscriptions/${made.body.subscriptionId}`)).status).toBe(200)
  // A config, its removal and a cancellation take three on each binding: of the third, nothing is left for the last two.
  const outcomes: string[] = []
  for (const [at, dialect] of current.entries()) {
    const client = await connect(gateway, s.bob, mallory.key, dialect)
    const taskId = ids[at]!
    const config = {
      tenant: '',
      taskId,
      id: 'config',
      url: 'http://127.0.0.1:9/',
      token: '',
      authentication: undefined,
    }
    for (const act of [
      () => client.createTaskPushNotificationConfig(config),
      () => client.deleteTaskPushNotificationConfig({ tenant: '', taskId, id: 'config' }),
      () => client.cancelTask({ tenant: '', id: taskId, metadata: {} }),
    ]) {
      outcomes.push(
        await act().then(
          () => 'done',
          (error: Error) => (/changesPerDay/.test(error.message) ? 'refused' : error.message),
        ),
      )
    }
  }
  expect(outcomes).toEqual([...Array(6).fill('done'), ...Array(3).fill('refused')])
})

test('what is refused or fails costs nothing of it', async () => {
  await using s = await start()
  for (let n = 0; n < 2 * perDay; n++) {
    const { status } = await s.gateway.call('DELETE', '/v1/wake-subscriptions/none', undefined, s.mallory)
    expect(status).toBe(404)
  }
  expect(await s.useUp()).toBe(perDay)
})

test('an agent whose changes were used up by a thief can revoke the stolen key', async () => {
  await using s = await start()
  const { gateway, mallory } = s
  const made = await gateway.call('POST', '/v1/agents/mallory/keys', {}, mallory)
  expect(made.status).toBe(201)
  await s.useUp()
  const revoked = await gateway.call('DELETE', `/v1/agents/mallory/keys/${made.body.keyId}`, undefined, mallory)
  expect(revoked.status).toBe(204)
  expect((await gateway.call('GET', '/v1/whoami', undefined, { key: made.body.apiKey })).status).toBe(401)
})

test('the audit and the log of 200 tries hold what was allowed, and one record of the refusals', async () => {
  await using s = await start()
  const rows = async (path: string, field: string): Promise<{ type?: string }[]> =>
    (await s.gateway.call('GET', path)).body[field]
  await s.useUp()
  for (let n = 0; n < 200; n++) expect((await s.change(n)).status).toBe(429)
  expect((await rows('/v1/audit?operation=agent.change&limit=500', 'records')).length).toBeLessThanOrEqual(perDay + 1)
  const events = await rows('/v1/events?since=0&limit=1000', 'events')
  expect(events.filter(({ type }) => type === 'agent.updated')).toHaveLength(perDay)
})

test('the opening of a stream of wakes counts for each subscription that it connects', async () => {
  await using s = await start()
  const { gateway, mallory } = s
  const ids: string[] = []
  for (let n = 0; n < 2; n++) {
    const input = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon', harnessTargetMetadata: {} }
    const { status, body } = await gateway.call('POST', '/v1/wake-subscriptions', input, mallory)
    expect(status).toBe(201)
    ids.push(body.subscriptionId)
  }
  const open = async (): Promise<number> => {
    const leaves = new AbortController()
    const query = ids.map((id) => `subscription=${id}`).join('&')
    const headers = { authorization: `Bearer ${mallory.key}`, accept: 'text/event-stream' }
    const { status } = await fetch(`${gateway.url}/v1/wake-stream?${query}`, { headers, signal: leaves.signal })
    leaves.abort()
    return status
  }
  // Two changes made the subscriptions; each opening takes four of the eight that are left.
  const statuses: number[] = []
  for (let n = 0; n < 6; n++) statuses.push(await open())
  expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(3)
  expect(statuses.at(-1)).toBe(429)
})

test('a hand-off with a message needs a key that may send', async () => {
  await using s = await start()
  const { gateway, mallory } = s
  const { body } = await gateway.call('POST', '/v1/agents/mallory/keys', { scopes: ['work'] }, mallory)
  const as = (path: string, input: object) => gateway.call('POST', path, input, { key: body.apiKey })
  expect((await as('/v1/claims', { ref: 'one' })).status).toBe(201)
  const refused = await as('/v1/claims/handoff', { ref: 'one', to: '@bob', message: 'hello' })
  expect([refused.status, refused.body.code, refused.body.scope]).toEqual([403, 'forbidden', 'send'])
  expect((await as('/v1/claims/handoff', { ref: 'one', to: '@bob' })).status).toBe(200)
})
