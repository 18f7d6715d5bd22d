import { expect, test } from 'vitest'
import { beginSession, initialize, ping, post } from '../fronts/mcp/http/wire.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { type Answer, startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'

async function start() {
  const clock = new FakeClock()
  const gateway = await startGateway({ overrides: { clock } })
  await gateway.call('POST', '/v1/projects', { project: 'red' })
  const lola = await gateway.addAgent('lola')
  const bob = await gateway.addAgent('bob')
  const zoe = await gateway.addAgent('zoe', { project: 'red' })
  return { gateway, clock, lola, bob, zoe, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() }
}

const limit = (gateway: TestGateway, limits: Record<string, number | null>, project = 'default') =>
  gateway.call('PATCH', `/v1/projects/${project}`, { limits })

type Act = (gateway: TestGateway, agent: TestAgent) => Promise<Answer>

/** Makes an act on a subscription of the agent, which it makes at the first one. */
const onSubscription = (act: string, body?: object): Act => {
  const made = new Map<string, Promise<{ id: string }>>()
  return async (gateway, agent) => {
    const url = 'http://127.0.0.1:9/wake'
    const subscription = made.get(agent.key) ?? gateway.subscribe(agent, url)
    made.set(agent.key, subscription)
    return gateway.call('POST', `/v1/wake-subscriptions/${(await subscription).id}/${act}`, body, agent)
  }
}

/** Acts with a rate of their own: the rate, and what makes them. */
const acts: Record<string, readonly [string, () => Act]> = {
  'starting a session': [
    'startsPerHour',
    () => (gateway, agent) => gateway.call('POST', '/v1/sessions', { surface: 'codex' }, agent),
  ],
  'a test wake': ['heavyPerMinute', () => onSubscription('test')],
  'a resync': ['heavyPerMinute', () => onSubscription('resync', { sinceLogId: 0 })],
  'granting a permission': [
    'startsPerHour',
    () => (gateway, agent) =>
      gateway.call('POST', '/v1/permissions', { grantee: 'default:@bob', scope: 'CAN_REPLY_TO' }, agent),
  ],
  'making a key': [
    'startsPerHour',
    () => (gateway, agent) => gateway.call('POST', `/v1/agents/${agent.handle.split('@')[1]}/keys`, {}, agent),
  ],
  'a change': [
    'changesPerDay',
    () => {
      let version = 0
      return (gateway, agent) =>
        gateway.call(
          'PATCH',
          `/v1/agents/${agent.handle.split('@')[1]}`,
          { description: `version ${++version}` },
          agent,
        )
    },
  ],
}

test.each(Object.entries(acts))(
  '%s has a rate of its own, which PATCH changes at once',
  async (_what, [name, make]) => {
    await using s = await start()
    const act = make()
    const by = (agent: TestAgent) => act(s.gateway, agent)
    for (const agent of [s.lola, s.bob, s.zoe]) await s.gateway.subscribe(agent, 'http://127.0.0.1:9/other')
    if (name === 'heavyPerMinute') for (const agent of [s.lola, s.bob, s.zoe]) await by(agent)
    s.clock.advance(86_400_000)
    expect((await limit(s.gateway, { [name]: 2 })).status).toBe(200)
    expect((await by(s.lola)).status).not.toBe(429)
    expect((await by(s.lola)).status).not.toBe(429)
    const { status, headers, body } = await by(s.lola)
    expect([status, body.code, body.limitName, body.limit]).toEqual([429, 'rate-limited', name, 2])
    expect(body.detail).toMatch(/^@lola has used up.*PATCH \/v1\/projects\/\{project\}/)
    expect(Number(headers.get('retry-after'))).toBe(body.retryAfterSeconds)
    for (const agent of [s.bob, s.zoe]) expect((await by(agent)).status).not.toBe(429)
    expect((await act(s.gateway, { ...s.lola, key: s.gateway.adminKey })).status).not.toBe(429)
    await limit(s.gateway, { [name]: 0 })
    expect((await by(s.lola)).status).not.toBe(429)
  },
)

test('an agent begins so many MCP sessions; those that it has go on', async () => {
  await using s = await start()
  await limit(s.gateway, { heavyPerMinute: 2 })
  const session = await beginSession(s.gateway, s.lola)
  await beginSession(s.gateway, s.lola)
  const { status, headers, body } = await post(s.gateway, s.lola, initialize())
  expect([status, body.error.data.limitName]).toEqual([429, 'heavyPerMinute'])
  expect(headers.get('retry-after')).toBe('30')
  expect((await post(s.gateway, s.lola, ping, session)).status).toBe(200)
  await beginSession(s.gateway, s.bob)
})
