import { expect, test } from 'vitest'
import { beginSession, initialize, ping, post } from '../../fronts/mcp/http/wire.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { type Answer, startGateway, type TestAgent, type TestGateway } from '../../support/gateway.ts'

async function start() {
  const gateway = await startGateway({ overrides: { clock: new FakeClock() } })
  await gateway.call('POST', '/v1/projects', { project: 'red' })
  const lola = await gateway.addAgent('lola')
  const bob = await gateway.addAgent('bob')
  const zoe = await gateway.addAgent('zoe', { project: 'red' })
  return { gateway, lola, bob, zoe, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() }
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

const acts: Record<string, () => Act> = {
  projectRequestsPerMinute: () => (gateway, agent) => gateway.call('GET', '/v1/whoami', undefined, agent),
  projectSessionStartsPerHour: () => (gateway, agent) =>
    gateway.call('POST', '/v1/sessions', { surface: 'codex' }, agent),
  projectTestsPerMinute: () => onSubscription('test'),
  projectReplaysPerMinute: () => onSubscription('resync', { sinceLogId: 0 }),
  projectGrantsPerHour: () => (gateway, agent) =>
    gateway.call('POST', '/v1/permissions', { grantee: 'default:@bob', scope: 'CAN_REPLY_TO' }, agent),
  projectKeyMintsPerHour: () => (gateway, agent) =>
    gateway.call('POST', `/v1/agents/${agent.handle.split('@')[1]}/keys`, {}, agent),
  projectMessagesPerMinute: () => (gateway, agent) =>
    gateway.call('POST', '/v1/messages', { to: '@operator', subject: 'x' }, agent),
  projectChangesPerDay: () => {
    let version = 0
    return (gateway, agent) =>
      gateway.call('PATCH', `/v1/agents/${agent.handle.split('@')[1]}`, { description: `version ${++version}` }, agent)
  },
}

test.each(Object.keys(acts))(
  '%s: over REST the agents of a project meet it together; PATCH changes it at once',
  async (name) => {
    await using s = await start()
    const act = acts[name]!()
    const by = (agent: TestAgent) => act(s.gateway, agent)
    // What the acts need is there.
    if (name.startsWith('projectTests') || name.startsWith('projectReplays')) {
      await limit(s.gateway, { testsPerMinute: 0, replaysPerMinute: 0 })
      for (const agent of [s.lola, s.bob, s.zoe]) await s.gateway.subscribe(agent, 'http://127.0.0.1:9/other')
    }
    const set = async (limits: Record<string, number | null>) => {
      for (const project of ['default', 'red']) expect((await limit(s.gateway, limits, project)).status).toBe(200)
    }
    await set({ [name]: 3 })
    const answers = [await by(s.lola), await by(s.bob), await by(s.lola)]
    expect(answers.filter(({ status }) => status === 429)).toEqual([])
    for (const agent of [s.bob, s.lola]) {
      const { status, headers, body } = await by(agent)
      expect([status, body.code, body.limitName, body.limit]).toEqual([429, 'rate-limited', name, 3])
      expect(body.detail).toMatch(/^Project default has used up.*PATCH \/v1\/projects\/\{project\}/)
      expect(Number(headers.get('retry-after'))).toBe(body.retryAfterSeconds)
    }
    expect((await by(s.zoe)).status).not.toBe(429)
    expect((await act(s.gateway, { ...s.lola, key: s.gateway.adminKey })).status).not.toBe(429)
    await set({ [name]: 4 })
    expect((await by(s.bob)).status).not.toBe(429)
    expect((await by(s.bob)).body.limitName).toBe(name)
    await set({ [name]: 0 })
    expect((await by(s.bob)).status).not.toBe(429)
    await set({ [name]: null })
    const { body } = await s.gateway.call('GET', '/v1/projects/default')
    expect(body.limits[name]).toBeGreaterThan(500)
    expect(body.overrides[name]).toBeUndefined()
  },
)

test('agents of a project begin so many MCP sessions together; those that they have go on', async () => {
  await using s = await start()
  await limit(s.gateway, { projectMcpSessionsPerMinute: 2 })
  const session = await beginSession(s.gateway, s.lola)
  await beginSession(s.gateway, s.bob)
  for (const agent of [s.lola, s.bob]) {
    const { status, headers, body } = await post(s.gateway, agent, initialize())
    expect([status, body.error.data.limitName]).toEqual([429, 'projectMcpSessionsPerMinute'])
    expect(headers.get('retry-after')).toBe('30')
  }
  expect((await post(s.gateway, s.lola, ping, session)).status).toBe(200)
  await beginSession(s.gateway, s.zoe)
  await limit(s.gateway, { projectMcpSessionsPerMinute: 3 })
  await beginSession(s.gateway, s.bob)
})

test('what the requests of two agents of a project weigh together is counted for it', async () => {
  await using s = await start()
  await limit(s.gateway, { projectMegabytesPerMinute: 1, largeMegabytesPerMinute: 0 })
  const send = (agent: TestAgent) =>
    s.gateway.call('POST', '/v1/messages', { to: '@operator', subject: 'x', body: 'x'.repeat(250_000) }, agent)
  const answers: Answer[] = []
  for (let n = 0; n < 8; n++) answers.push(await send(n % 2 ? s.lola : s.bob))
  expect(answers.slice(0, 4).map(({ status }) => status)).toEqual([201, 201, 201, 201])
  for (const agent of [s.lola, s.bob]) {
    const { status, body } = await s.gateway.call('GET', '/v1/whoami', undefined, agent)
    expect([status, body.limitName]).toEqual([429, 'projectMegabytesPerMinute'])
  }
  expect((await s.gateway.call('GET', '/v1/whoami', undefined, s.zoe)).status).toBe(200)
  await limit(s.gateway, { projectMegabytesPerMinute: 0 })
  expect((await s.gateway.call('GET', '/v1/whoami', undefined, s.lola)).status).toBe(200)
})
