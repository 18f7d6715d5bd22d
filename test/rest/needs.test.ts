import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

const minute = 60_000

const needsOf = async (gateway: TestGateway, key?: string) =>
  (await gateway.call('GET', '/v1/needs', undefined, key === undefined ? {} : { key })).body

const kinds = ({ needs }: { needs: { kind: string; agent: string }[] }) =>
  needs.map(({ kind, agent }) => `${kind} ${agent}`)

test('questions, late tasks and mail to the operator wait for a person, the most urgent first', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  const late = await gateway.send('lola', 'look at this', { key: donna.key })
  await clock.advance(11 * minute)
  const asking = await gateway.send('donna', 'deploy', { key: lola.key })
  await gateway.move(donna, asking.id, 'input-required', { message: 'Where?' })
  await clock.advance(1_000)
  const locked = await gateway.send('donna', 'publish')
  await gateway.move(donna, locked.id, 'auth-required', { message: 'Sign me in.' })
  await clock.advance(1_000)
  await gateway.call('POST', '/v1/messages', { to: '@operator', subject: 'May I?', body: 'Delete it.' }, donna)

  const found = await needsOf(gateway)
  expect(kinds(found)).toEqual(['input @donna', 'auth @donna', 'late @lola', 'mail @donna'])
  expect(found.more).toBe(false)
  expect(found.needs[0]).toMatchObject({
    urgency: 'stops',
    text: 'Where?',
    subject: 'deploy',
    taskId: asking.id,
    version: 2,
    originator: '@lola',
    sentTo: '@donna',
  })
  expect(found).toMatchObject({ counts: { stops: 2, wakes: 0, late: 1, mail: 1 }, countsAtLeast: [] })
  expect(
    found.groups.map(({ urgency, kind, agent, count }: Record<string, unknown>) => [urgency, kind, agent, count]),
  ).toEqual([
    ['stops', 'input', '@donna', 1],
    ['stops', 'auth', '@donna', 1],
    ['late', 'late', '@lola', 1],
    ['mail', 'mail', '@donna', 1],
  ])
  expect(found.needs[3]).toMatchObject({
    text: 'May I?\n\nDelete it.',
    subject: 'May I?',
    messageId: expect.stringMatching(/^MESSAGE:/),
  })
  // An agent sees the tasks that it has started, and nothing of others.
  expect(kinds(await needsOf(gateway, lola.key))).toEqual(['input @donna'])
  expect((await needsOf(gateway, donna.key)).needs).toMatchObject([{ kind: 'late', taskId: late.id }])
  await gateway.send('donna', 'Here.', { key: lola.key, message: { taskId: asking.id } })
  expect(kinds(await needsOf(gateway, lola.key))).toEqual([])
})

test('an approval waits however old the report of it is', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock }, env: { ROUSE_SESSION_TIMEOUT: '3600' } })
  const donna = await gateway.addAgent('donna')
  await gateway.call('POST', '/v1/sessions', { surface: 'codex' }, donna)
  const report = { state: 'waitingOnApproval', source: 'codex-app-server' }
  await gateway.call('PUT', '/v1/presence', report, donna)
  const since = new Date(clock.now()).toISOString()
  await clock.advance(30 * minute)
  expect(await needsOf(gateway)).toMatchObject({ needs: [{ kind: 'approval', agent: '@donna', since }] })
  expect(kinds(await needsOf(gateway, donna.key))).toEqual(['approval @donna'])
  await gateway.call('PUT', '/v1/presence', { ...report, state: 'active' }, donna)
  expect(kinds(await needsOf(gateway))).toEqual([])
})

test('a degraded subscription, a limit and a tripped gate wait for a person', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver(410)
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  const { id } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'x' }, lola)
  const read = () => needsOf(gateway)
  const found = await until(read, ({ needs }) => needs.length > 0)
  expect(found.needs).toMatchObject([{ kind: 'degraded', agent: '@donna', subscriptionId: id, text: 'gone' }])
  await park(gateway, lola)
  expect(kinds(await read())).toEqual(['degraded @donna', 'parked @lola'])
  expect((await needsOf(gateway, lola.key)).needs).toMatchObject([
    { kind: 'parked', text: 'spend-cap: May', until: null },
  ])
  // The needs of another project are not theirs.
  await gateway.call('POST', '/v1/projects', { project: 'web' })
  const elsewhere = await gateway.call('GET', '/v1/needs', undefined, { headers: { 'Rouse-Project': 'web' } })
  const counts = { stops: 0, wakes: 0, late: 0, mail: 0 }
  const nothing = { needs: [], more: false, folded: [], groups: [], total: {}, atLeast: [], nextPageToken: '' }
  expect(elsewhere.body).toEqual({ ...nothing, counts, countsAtLeast: [] })
})

const park = (gateway: TestGateway, agent: TestAgent) =>
  gateway.call('PUT', '/v1/parked', { until: null, reason: 'spend-cap', detail: 'May' }, agent)

test('a receiver that is away is a need from the first failed tries on', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver(503)
  const donna = await gateway.addAgent('donna')
  const metadata = { retryForSeconds: 3_600 }
  const { id } = await gateway.subscribe(donna, receiver.url, {
    trigger: 'SENT_TO_ME',
    harnessTargetMetadata: metadata,
  })
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'x' })
  const found = await until(
    () => needsOf(gateway),
    ({ needs }) => needs.length > 0,
  )
  expect(found.needs).toMatchObject([{ kind: 'retrying', subscriptionId: id, text: expect.stringContaining('503') }])
})

test('the operator of one project gets its mail, however much of other projects waits before it', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const web = { 'Rouse-Project': 'web' }
  await gateway.call('POST', '/v1/projects', { project: 'web' })
  const { body: zoe } = await gateway.call('POST', '/v1/agents', { handle: 'zoe' }, { headers: web })
  const say = (subject: string, key: string) =>
    gateway.call('POST', '/v1/messages', { to: '@operator', subject }, { key })
  for (let n = 0; n < 100; n++) await say(`n${n}`, zoe.apiKey)
  await say('here', donna.key)
  const { body: made } = await gateway.call('POST', '/v1/operator-keys', { role: 'manager', projects: ['default'] })
  const found = await needsOf(gateway, made.operatorKey)
  expect(found.needs).toMatchObject([{ kind: 'mail', agent: '@donna', text: 'here' }])
  const inbox = await gateway.call('GET', '/v1/inbox?unread=true&limit=1', undefined, { key: made.operatorKey })
  expect(inbox.body).toMatchObject({ messages: [{ subject: 'here' }], nextPageToken: '' })
})
