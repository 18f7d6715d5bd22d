import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

const minute = 60_000
/** More than a list had of each kind. */
const many = 130

interface Need {
  id: string
  kind: string
  agent: string
  text: string
}

const needsOf = async (gateway: TestGateway, query = '', options: object = {}) =>
  (await gateway.call('GET', `/v1/needs${query}`, undefined, options)).body

const writeToOperator = (gateway: TestGateway, { key }: Pick<TestAgent, 'key'>, subject: string) =>
  gateway.call('POST', '/v1/messages', { to: '@operator', subject }, { key })

/** Makes an agent send as many mails, questions, and tasks that nobody takes up. */
async function flood(gateway: TestGateway, sender: TestAgent, accomplice: TestAgent): Promise<void> {
  const repeat = async (act: (n: number) => Promise<unknown>): Promise<void> => {
    for (let n = 0; n < many; n++) await act(n)
  }
  await Promise.all([
    repeat((n) => writeToOperator(gateway, sender, `n${n}`)),
    repeat((n) => gateway.send(accomplice.handle, `late ${n}`, { key: sender.key })),
    repeat(async (n) => {
      const { id } = await gateway.send(accomplice.handle, `ask ${n}`, { key: sender.key })
      await gateway.move(accomplice, id, 'input-required', { message: `Question ${n}` })
    }),
  ])
}

/** Everything of an agent that waits for a person, but for its subscriptions. */
async function openNeeds(gateway: TestGateway, bob: TestAgent, carol: TestAgent): Promise<void> {
  const to = bob.handle
  await gateway.send(to, 'not taken up', { key: carol.key })
  const asked = await gateway.send(to, 'deploy', { key: carol.key })
  await gateway.move(bob, asked.id, 'input-required', { message: 'Where?' })
  const locked = await gateway.send(to, 'publish', { key: carol.key })
  await gateway.move(bob, locked.id, 'auth-required', { message: 'Sign me in.' })
  await writeToOperator(gateway, bob, 'URGENT')
}

async function addElsewhere(gateway: TestGateway, project: string, handle: string): Promise<TestAgent> {
  await gateway.call('POST', '/v1/projects', { project })
  const headers = { 'Rouse-Project': project }
  const { body } = await gateway.call('POST', '/v1/agents', { handle }, { headers })
  return { handle, key: body.apiKey }
}

const free = { requestsPerMinute: 0, messagesPerMinute: 0, heavyPerMinute: 0, megabytesPerMinute: 0 }
const liftLimits = (gateway: TestGateway, project = 'default') =>
  gateway.call('PATCH', `/v1/projects/${project}`, { limits: free })

test('many needs of one agent, or of another project, hide none of others, and are told no less', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock }, env: { ROUSE_STORM_MESSAGES: '0' } })
  await using watch = await startReceiver()
  const [eve, accomplice, bob, carol] = [
    await gateway.addAgent('eve'),
    await gateway.addAgent('eve2'),
    await gateway.addAgent('bob'),
    await gateway.addAgent('carol'),
  ]
  const zoe = await addElsewhere(gateway, 'red', 'zoe')
  await liftLimits(gateway)
  await liftLimits(gateway, 'red')
  const red = Array.from({ length: many }, (_, n) => writeToOperator(gateway, zoe, `red ${n}`))
  await Promise.all([...red, flood(gateway, eve, accomplice)])
  await clock.advance(1_000)
  await openNeeds(gateway, bob, carol)
  await clock.advance(11 * minute)

  const found = await needsOf(gateway)
  const ofBob = found.needs.filter(({ agent }: Need) => agent === '@bob').map(({ kind }: Need) => kind)
  expect(ofBob.sort()).toEqual(['auth', 'input', 'late', 'mail'])
  expect(found.needs).toHaveLength(4 * 5 + 4)
  expect(found).toMatchObject({ more: true, nextPageToken: '', atLeast: [] })
  expect(found.total).toEqual({ mail: 2 * many + 1, input: many + 1, late: many + 1, auth: 1 })
  const rest = many - 5
  expect(found.folded).toHaveLength(4)
  expect(found.folded).toEqual(
    expect.arrayContaining([
      { kind: 'mail', agent: '@eve', count: rest, atLeast: false },
      { kind: 'mail', agent: '@zoe', count: rest, atLeast: false },
      { kind: 'input', agent: '@eve2', count: rest, atLeast: false },
      { kind: 'late', agent: '@eve2', count: rest, atLeast: false },
    ]),
  )
  // Of a project that is named there are its own needs.
  const there = await needsOf(gateway, '', { headers: { 'Rouse-Project': 'red' } })
  expect(there.total).toEqual({ mail: many })
  const here = await needsOf(gateway, '', { headers: { 'Rouse-Project': 'default' } })
  expect(here.total.mail).toBe(many + 1)
  const { body: key } = await gateway.call('POST', '/v1/operator-keys', { role: 'manager', projects: ['default'] })
  expect((await needsOf(gateway, '', { key: key.operatorKey })).total.mail).toBe(many + 1)

  // The rest is reached in pages, each need once and the longest wait first.
  for (const [agent, kinds] of [
    ['@eve', { mail: many }],
    ['eve2', { input: many, late: many }],
  ] as const) {
    const all = await pagesOf(gateway, `agent=${agent}`)
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
    for (const [kind, count] of Object.entries(kinds)) {
      expect(all.filter((need) => need.kind === kind)).toHaveLength(count)
      expect(await pagesOf(gateway, `agent=${agent}&kind=${kind}`)).toHaveLength(count)
    }
  }
  expect((await pagesOf(gateway, 'agent=@eve')).map(({ text }) => text)).toEqual(
    Array.from({ length: many }, (_, n) => `n${n}`),
  )
  expect((await pagesOf(gateway, '', 7)).map(({ id }) => id)).toEqual(found.needs.map(({ id }: Need) => id))
  // What is folded can be put off, too.
  for (const kind of ['mail', 'input']) {
    const last = (await pagesOf(gateway, `agent=${kind === 'mail' ? '@eve' : '@eve2'}&kind=${kind}`)).at(-1)!
    const put = { need: last.id, until: new Date(clock.now() + minute).toISOString() }
    expect(await gateway.call('POST', '/v1/needs/snooze', put)).toMatchObject({ status: 200 })
  }

  // What is told does not depend on the list.
  const request = { trigger: 'NEED_CHANGED', harnessTargetMetadata: { url: watch.url, coalesceWindow: 0 } }
  await gateway.call('POST', '/v1/wake-subscriptions', request)
  const told = () => watch.wakes.map(({ body: { payload } }) => payload)
  await until(
    async () => {
      await clock.advance(1_000)
      return told()
    },
    (payloads) => payloads.filter(({ agent }) => agent === '@bob').length === 4,
    60_000,
  )
  await writeToOperator(gateway, bob, 'AGAIN')
  await until(
    async () => {
      await clock.advance(1_000)
      return told()
    },
    (payloads) => payloads.some(({ subject }) => subject === 'AGAIN'),
    60_000,
  )
  const more = told().filter(({ need }) => need === 'mail:@eve')
  expect(more).toMatchObject([{ change: 'raised', subject: 'More than 100 of @eve wait.' }])
  expect(told().filter(({ agent }) => agent === '@zoe')).toEqual([])
})

async function pagesOf(gateway: TestGateway, query: string, limit = 50): Promise<Need[]> {
  const needs: Need[] = []
  let token = ''
  do {
    const page = await needsOf(gateway, `?limit=${limit}&pageToken=${token}&${query}`)
    needs.push(...page.needs)
    token = page.nextPageToken
  } while (token !== '')
  return needs
}

test('many receivers of one agent that are gone hide neither a degraded subscription of another nor one that fails', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using gone = await startReceiver(410)
  await using away = await startReceiver(503)
  const [eve, bob] = [await gateway.addAgent('eve'), await gateway.addAgent('bob')]
  await liftLimits(gateway)
  const subscribe = (agent: TestAgent, url: string) =>
    gateway.subscribe(agent, url, { trigger: 'SENT_TO_ME', harnessTargetMetadata: { probe: false } })
  for (let n = 0; n < 105; n++) await subscribe(eve, gone.url)
  await gateway.call('POST', '/v1/messages', { to: '@eve', subject: 'x' })
  const settled = (count: number, kind: string, agent: string) =>
    until(
      async () => {
        await clock.advance(100)
        return needsOf(gateway, `?agent=${agent}`)
      },
      ({ needs }) => needs.filter((need: Need) => need.kind === kind).length === count,
      60_000,
    )
  await settled(105, 'degraded', '@eve')
  await subscribe(bob, gone.url)
  await subscribe(bob, away.url)
  await gateway.call('POST', '/v1/messages', { to: '@bob', subject: 'x' })
  await settled(1, 'degraded', '@bob')
  await settled(1, 'failing', '@bob')
  const found = await needsOf(gateway)
  const ofBob = found.needs.filter(({ agent }: Need) => agent === '@bob').map(({ kind }: Need) => kind)
  expect(ofBob.sort()).toEqual(['degraded', 'failing'])
  expect(found.total).toEqual({ degraded: 106, failing: 1 })
  expect(found.folded).toEqual([{ kind: 'degraded', agent: '@eve', count: 100, atLeast: false }])
  const { needs } = await needsOf(gateway, '?agent=@eve')
  const put = { need: needs.at(-1).id, until: new Date(clock.now() + minute).toISOString() }
  expect(await gateway.call('POST', '/v1/needs/snooze', put)).toMatchObject({ status: 200 })
})

test('more than a thousand of one agent are counted as at least so many', async () => {
  await using gateway = await startGateway({ env: { ROUSE_STORM_MESSAGES: '0' } })
  const eve = await gateway.addAgent('eve')
  await liftLimits(gateway)
  for (let n = 0; n < 1_002; n += 6) {
    await Promise.all(Array.from({ length: 6 }, (_, one) => writeToOperator(gateway, eve, `n${n + one}`)))
  }
  const found = await needsOf(gateway)
  expect(found).toMatchObject({ total: { mail: 1_000 }, atLeast: ['mail'], more: true })
  expect(found.folded).toEqual([{ kind: 'mail', agent: '@eve', count: 995, atLeast: true }])
  expect(await pagesOf(gateway, 'agent=@eve', 500)).toHaveLength(1_002)
})
