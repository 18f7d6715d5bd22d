import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { openEventStream } from '../support/event-stream.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { type Answer, startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'

async function start() {
  const clock = new FakeClock()
  const gateway = await startGateway({ overrides: { clock } })
  const mallory = await gateway.addAgent('mallory')
  const bob = await gateway.addAgent('bob')
  return { gateway, clock, mallory, bob, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() }
}

const limit = async (gateway: TestGateway, limits: Record<string, number | null>, project = 'default') =>
  gateway.call('PATCH', `/v1/projects/${project}`, { limits })

/** Makes this many calls, at most 20 at a time. */
async function many(count: number, call: (n: number) => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = []
  let next = 0
  const worker = async () => {
    while (next < count) answers.push(await call(next++))
  }
  await Promise.all(Array.from({ length: 20 }, worker))
  return answers
}

const accepted = (answers: readonly Answer[]) => answers.filter(({ status }) => status < 300).length
const refusal = (answers: readonly Answer[]) => answers.find(({ status }) => status === 429)!

test('who floods is refused by the name of the limit, others are served, and time gives the allowance back', async () => {
  await using s = await start()
  await limit(s.gateway, { requestsPerMinute: 200 })
  const ask = (agent: TestAgent) => s.gateway.call('GET', '/v1/agents/bob', undefined, agent)
  const answers = await many(300, () => ask(s.mallory))
  expect(accepted(answers)).toBe(200)
  const { headers, body } = refusal(answers)
  expect(headers.get('retry-after')).toBe('1')
  expect(body).toMatchObject({
    code: 'rate-limited',
    limit: 200,
    limitName: 'requestsPerMinute',
    retryAfterSeconds: 1,
    detail: expect.stringContaining('@mallory has used up requestsPerMinute: 200 a minute'),
  })
  expect((await ask(s.bob)).status).toBe(200)
  expect((await s.gateway.call('GET', '/v1/agents/bob')).status).toBe(200)
  s.clock.advance(3_000)
  expect(accepted(await many(20, () => ask(s.mallory)))).toBe(10)
  expect((await s.gateway.call('POST', '/agents/bob', {}, s.mallory)).status).toBe(429)
})

test('who asks on although it is refused is answered a second late, and costs nobody else', async () => {
  await using s = await start()
  await limit(s.gateway, { requestsPerMinute: 1 })
  const ask = (agent: TestAgent) => s.gateway.call('GET', '/v1/agents/bob', undefined, agent)
  const prompt = await many(121, () => ask(s.mallory))
  expect(prompt.filter(({ status }) => status === 429)).toHaveLength(120)
  let isAnswered = false
  const late = ask(s.mallory).then(({ status }) => {
    isAnswered = true
    return status
  })
  expect((await ask(s.bob)).status).toBe(200)
  expect(isAnswered).toBe(false)
  s.clock.advance(1_000)
  expect(await late).toBe(429)
})

test('what one agent’s requests and answers weigh is counted: over its allowance it is refused before a body is read', async () => {
  await using s = await start()
  await limit(s.gateway, { megabytesPerMinute: 3 })
  const send = (agent: TestAgent) =>
    s.gateway.call('POST', '/v1/messages', { to: '@bob', subject: 'large', body: 'x'.repeat(250_000) }, agent)
  const answers: Answer[] = []
  for (let count = 0; count < 20; count++) answers.push(await send(s.mallory))
  expect(accepted(answers)).toBeGreaterThan(5)
  expect(refusal(answers).body).toMatchObject({ code: 'rate-limited', limitName: 'megabytesPerMinute' })
  expect((await send(s.bob)).status).toBe(201)
  s.clock.advance(60_000)
  expect((await send(s.mallory)).status).toBe(201)
})

test('a project has twenty times the rate of a key, which is not another project’s', async () => {
  await using s = await start()
  await s.gateway.call('POST', '/v1/projects', { project: 'red' })
  const zoe = await s.gateway.addAgent('zoe', { project: 'red' })
  const agents = await Promise.all(Array.from({ length: 25 }, (_, n) => s.gateway.addAgent(`agent-${n}`)))
  await limit(s.gateway, { requestsPerMinute: 1 })
  const answers = await many(25, (n) => s.gateway.call('GET', '/v1/agents/bob', undefined, agents[n]!))
  expect(accepted(answers)).toBe(20)
  expect(refusal(answers).body).toMatchObject({
    code: 'rate-limited',
    limitName: 'requestsPerMinute',
    detail: expect.stringContaining('Project default'),
  })
  expect((await s.gateway.call('GET', '/v1/agents', undefined, zoe)).status).toBe(200)
})

test('the operator alone reads and sets limits, by their names, for one project', async () => {
  await using s = await start()
  const { body } = await s.gateway.call('GET', '/v1/projects/default')
  expect(body).toMatchObject({
    project: 'default',
    limits: { subscriptions: 500, messagesPerMinute: 300 },
    overrides: {},
  })
  expect((await limit(s.gateway, { keys: 5, streams: 0 })).body.overrides).toEqual({ keys: 5, streams: 0 })
  expect((await limit(s.gateway, { keys: null })).body).toMatchObject({
    limits: { keys: 100 },
    overrides: { streams: 0 },
  })
  const own = await s.gateway.call('PATCH', '/v1/projects/default', { limits: { keys: 0 } }, s.mallory)
  expect([own.status, own.body.code]).toEqual([403, 'forbidden'])
  expect((await s.gateway.call('GET', '/v1/projects/default', undefined, s.mallory)).status).toBe(403)
  for (const [limits, field] of [
    [{ kyes: 1 }, 'limits.kyes'],
    [{ keys: -1 }, 'limits.keys'],
    [{ keys: 1.5 }, 'limits.keys'],
    [{ keys: '5' }, 'limits.keys'],
    [{ constructor: 5 }, 'limits.constructor'],
  ] as const) {
    const answer = await s.gateway.call('PATCH', '/v1/projects/default', { limits })
    expect([answer.status, answer.body.field], JSON.stringify(limits)).toEqual([400, field])
  }
  expect((await s.gateway.call('PATCH', '/v1/projects/none', { limits: {} })).body.code).toBe('project-not-found')
  const { body: log } = await s.gateway.call('GET', '/v1/events?since=0')
  expect(log.events.filter((event: { type: string }) => event.type === 'project.updated')).toHaveLength(2)
})

test('changes of limits that are made at once are all kept', async () => {
  await using s = await start()
  const names = ['keys', 'owned', 'streams', 'subscriptions', 'agents', 'heavyPerMinute']
  await Promise.all(names.map((name, n) => limit(s.gateway, { [name]: n + 1 })))
  const { body } = await s.gateway.call('GET', '/v1/projects/default')
  expect(body.overrides).toEqual(Object.fromEntries(names.map((name, n) => [name, n + 1])))
})

/** A request whose body never ends: it never ends. */
async function hold(gateway: TestGateway, { key }: TestAgent): Promise<Socket> {
  const { hostname, port } = new URL(gateway.url)
  const socket = connect(Number(port), hostname)
  const head = [
    'POST /v1/messages HTTP/1.1',
    `Host: ${hostname}:${port}`,
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
  ]
  socket.write([...head, 'Content-Length: 1000', 'Expect: 100-continue', '', '{'].join('\r\n'))
  socket.on('error', () => {})
  await new Promise((resolve) => socket.once('data', resolve))
  return socket
}

test('streams and calls that wait keep no request from being answered', async () => {
  await using s = await start()
  await limit(s.gateway, { requestsAtOnce: 1, requestsQueued: 1 })
  const headers = { authorization: `Bearer ${s.mallory.key}` }
  await using _first = await openEventStream(`${s.gateway.url}/v1/events`, headers)
  await using _second = await openEventStream(`${s.gateway.url}/v1/events`, headers)
  const { body } = await s.gateway.call('GET', '/v1/agents/bob', undefined, s.mallory)
  expect(body.handle).toBe('@bob')
  const blocking = s.gateway.send('bob', 'x', { key: s.mallory.key, configuration: { returnImmediately: false } })
  const [task] = await until(
    async () => (await s.gateway.call('GET', '/v1/tasks', undefined, { key: s.bob.key })).body.tasks,
    (tasks) => tasks.length > 0,
  )
  await s.gateway.move(s.bob, task.id, 'completed')
  expect(await blocking).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } })
})

test('uploads that never end keep no request of their agent from being answered', async () => {
  await using s = await start()
  await limit(s.gateway, { requestsAtOnce: 1, requestsQueued: 2 })
  const held = await Promise.all(Array.from({ length: 5 }, () => hold(s.gateway, s.mallory)))
  expect((await s.gateway.call('GET', '/v1/agents/bob', undefined, s.mallory)).status).toBe(200)
  for (const socket of held) socket.destroy()
})

test('an agent makes keys up to its number and its rate; a revoked one gives its place back', async () => {
  await using s = await start()
  await limit(s.gateway, { keys: 10, startsPerHour: 30 })
  const mint = (agent = s.mallory) => s.gateway.call('POST', `/v1/agents/${agent.handle.slice(1)}/keys`, {}, agent)
  const made = await many(20, () => mint())
  expect(accepted(made)).toBe(9)
  expect(refusal(made).body).toMatchObject({ code: 'limit-exceeded', limit: 'keys', max: 10 })
  const { keyId } = made.find(({ status }) => status === 201)!.body
  await s.gateway.call('DELETE', `/v1/agents/mallory/keys/${keyId}`, undefined, s.mallory)
  expect((await mint()).status).toBe(201)
  const more = await many(20, () => mint())
  expect(more.map(({ body }) => body.limitName).filter((name) => name === 'startsPerHour')).toHaveLength(11)
  expect((await s.gateway.call('POST', '/v1/agents/mallory/keys', {})).status).toBe(201)
  expect((await mint(s.bob)).status).toBe(201)
})

test('of 150 sessions that one starts a hundred begin, and its peers are notified of no more', async () => {
  await using s = await start()
  await limit(s.gateway, { requestsPerMinute: 0 })
  const { body } = await s.gateway.call('POST', '/v1/sessions', { surface: 'codex' }, s.bob)
  expect(body.sessionId).toBeDefined()
  const sessions = []
  for (let n = 0; n < 150; n++) {
    const started = await s.gateway.call('POST', '/v1/sessions/', { surface: 'cursor' }, s.mallory)
    sessions.push(started)
    if (started.status === 201)
      await s.gateway.call('DELETE', `/v1/sessions/${started.body.sessionId}`, undefined, s.mallory)
  }
  expect(accepted(sessions)).toBe(100)
  expect(refusal(sessions).body).toMatchObject({ code: 'rate-limited', limitName: 'startsPerHour', limit: 100 })
  const { body: log } = await s.gateway.call('GET', '/v1/events?since=0&limit=1000')
  const joined = log.events.filter((event: { type: string }) => event.type === 'peer.joined')
  expect(joined.length).toBeLessThanOrEqual(101)
  expect((await s.gateway.call('POST', '/v1/sessions', { surface: 'codex' }, s.bob)).status).toBe(201)
})

test('grants towards another project end at their rate, and its log gets no more than them and their revocations', async () => {
  await using s = await start()
  await s.gateway.call('POST', '/v1/projects', { project: 'red' })
  const red = await s.gateway.addAgent('red', { project: 'red' })
  const blue = await s.gateway.addAgent('blue', { project: 'red' })
  const input = { grantee: 'default:@bob', scope: 'CAN_REPLY_TO' }
  const acts: Answer[] = []
  for (let n = 0; n < 200; n++) {
    const made = await s.gateway.call('POST', '/v1/permissions', input, red)
    acts.push(made)
    if (made.status !== 429)
      acts.push(await s.gateway.call('DELETE', `/v1/permissions/${made.body.permissionId}`, undefined, red))
  }
  expect(accepted(acts)).toBe(200)
  expect(refusal(acts).body).toMatchObject({ code: 'rate-limited', limitName: 'startsPerHour', limit: 100 })
  const { body: log } = await s.gateway.call('GET', '/v1/events?since=0&limit=1000')
  const events = log.events.filter((event: { type: string }) => event.type.startsWith('permission.'))
  expect(events.length).toBeLessThanOrEqual(200)
  expect((await s.gateway.call('POST', '/v1/permissions', { ...input, grantee: 'red' }, blue)).status).toBe(201)
})

test('an agent grants up to its number; what is granted already is no more', async () => {
  await using s = await start()
  await limit(s.gateway, { owned: 2 })
  const grant = (scope: string) => s.gateway.call('POST', '/v1/permissions', { grantee: 'bob', scope }, s.mallory)
  const scopes = ['CAN_REPLY_TO', 'CAN_READ_INBOX_OF', 'CAN_READ_MEMORIES_OF']
  const answers = await Promise.all(scopes.map(grant))
  expect(accepted(answers)).toBe(2)
  expect(refusal(answers).body).toMatchObject({ code: 'limit-exceeded', limit: 'owned', max: 2 })
  const first = scopes[answers.findIndex(({ status }) => status === 201)]!
  expect((await grant(first)).status).toBe(200)
})

test('a project has so many agents, whoever makes them', async () => {
  await using s = await start()
  await limit(s.gateway, { agents: 3 })
  await s.gateway.addAgent('third')
  const { status, body } = await s.gateway.call('POST', '/v1/agents', { handle: 'fourth' })
  expect([status, body.code, body.limit, body.max]).toEqual([429, 'limit-exceeded', 'agents', 3])
  await s.gateway.call('DELETE', '/v1/agents/third')
  expect((await s.gateway.call('POST', '/v1/agents', { handle: 'fourth' })).status).toBe(201)
})

test('requests that are refused for what they name count like others, on every front', async () => {
  await using s = await start()
  await limit(s.gateway, { requestsPerMinute: 40 })
  const of = (headers: Record<string, string>) => ({
    key: s.mallory.key,
    headers: { 'A2A-Version': '1.0', ...headers },
  })
  const requests: [string, string, Record<string, string>][] = [
    ['POST', '/agents/nobody', {}],
    ['GET', '/agents/nobody/tasks', {}],
    ['GET', '/v1/tasks', { 'Rouse-Project': 'another' }],
    ['POST', '/mcp', { 'Rouse-Project': 'another', Accept: 'application/json, text/event-stream' }],
  ]
  const ask = ([method, path, headers]: (typeof requests)[number]) =>
    s.gateway.call(method, path, method === 'POST' ? {} : undefined, of(headers))
  for (let round = 0; round < 10; round++) {
    for (const one of requests) expect([400, 403, 404]).toContain((await ask(one)).status)
  }
  for (const one of requests) expect([one[1], (await ask(one)).status]).toEqual([one[1], 429])
})
