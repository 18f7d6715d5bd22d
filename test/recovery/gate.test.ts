import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { besideStore } from '../support/store.ts'
import { gateOf } from './acts.ts'

// S3-10
test('in a new project nudges are enabled and restarts are not; a project without a gate is tripped', async () => {
  await using gateway = await startGateway()
  expect(await gateOf(gateway)).toMatchObject({ nudges: 'enabled', restarts: 'disabled', reason: null })
  await gateway.call('POST', '/v1/projects', { project: 'web' })
  const headers = { 'Rouse-Project': 'web' }
  expect((await gateway.call('GET', '/v1/gate', undefined, { headers })).body).toMatchObject({ nudges: 'enabled' })
  await besideStore(gateway.dataDir, "delete from gate where project_id = 'default'")
  expect(await gateOf(gateway)).toMatchObject({
    nudges: 'tripped',
    restarts: 'tripped',
    since: null,
    reason: 'The gate of the project is missing.',
  })
})

test('a gate that cannot be read is tripped, and so is one that a person trips', async () => {
  await using gateway = await startGateway()
  await besideStore(gateway.dataDir, "update gate set settings = 'no JSON'")
  expect(await gateOf(gateway)).toMatchObject({
    nudges: 'tripped',
    restarts: 'tripped',
    reason: 'The gate cannot be read.',
  })
  await besideStore(gateway.dataDir, 'update gate set settings = null')
  const { body } = await gateway.call('PATCH', '/v1/gate', { nudges: 'tripped', reason: 'stop' })
  expect(body).toMatchObject({ nudges: 'tripped', restarts: 'disabled', reason: 'stop' })
  const opened = await gateway.call('PATCH', '/v1/gate', { nudges: 'enabled' })
  expect(opened.body).toMatchObject({ status: 400, field: 'proof' })
})

test('the stricter of the gates of a project and of its agent holds', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await gateway.call('PATCH', '/v1/gate', {
    agent: '@donna',
    restarts: 'enabled',
    settings: { staleAfterSeconds: 120 },
  })
  expect(await gateOf(gateway, '?agent=@donna')).toMatchObject({
    agent: '@donna',
    nudges: 'enabled',
    restarts: 'disabled',
    settings: { staleAfterSeconds: 120, bootTimeoutSeconds: 900 },
  })
  await gateway.call('PATCH', '/v1/gate', { restarts: 'enabled', nudges: 'disabled', reason: 'tonight' })
  // An agent sees its own.
  const { body } = await gateway.call('GET', '/v1/gate', undefined, { key: donna.key })
  expect(body).toMatchObject({ agent: '@donna', nudges: 'disabled', restarts: 'enabled', reason: 'tonight' })
  const refused = await gateway.call('PATCH', '/v1/gate', { nudges: 'enabled' }, { key: donna.key })
  expect(refused.status).toBe(403)
})

test('a tripped gate opens with a wake test that came full circle since, and with a choice for what waits', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  const test = async () => {
    const input = { to: '@donna', subject: 'Wake test 1a2b3c4d', wakePolicy: 'immediate' }
    return (await gateway.call('POST', '/v1/messages', input)).body.messageId as string
  }
  const ack = (id: string) => gateway.call('POST', `/v1/messages/${id}/status`, { status: 'acked' }, { key: donna.key })
  const early = await test()
  await ack(early)
  clock.advance(1_000)
  const columns = 'project_id, agent_id, nudges, restarts, reason, changed_by, since'
  await besideStore(
    gateway.dataDir,
    `insert into gate (${columns}) select 'default', id, 'tripped', 'tripped', 'too many', '@gateway', ? from agent where handle = '@donna'`,
    clock.now(),
  )
  const open = (fields: object) => gateway.call('PATCH', '/v1/gate', { agent: '@donna', nudges: 'enabled', ...fields })
  expect((await open({})).body).toMatchObject({ status: 400, field: 'proof' })
  expect((await open({ proof: early })).body).toMatchObject({ status: 400, field: 'backlog' })
  expect((await open({ proof: early, backlog: 'skip' })).body).toMatchObject({ status: 400, field: 'proof' })
  clock.advance(1_000)
  const late = await test()
  expect((await open({ proof: late, backlog: 'skip' })).body).toMatchObject({ status: 400, field: 'proof' })
  await ack(late)
  await gateway.send('donna', 'waits')
  await receiver.waitFor(3)
  const { status, body } = await open({ proof: late, backlog: 'digest' })
  expect([status, body]).toMatchObject([200, { nudges: 'enabled', restarts: 'disabled', reason: null }])
  const wakes = await receiver.waitFor(4)
  expect(wakes.at(-1)!.body).toMatchObject({ eventType: 'wake/digest', payload: { reason: 'waiting' } })
})

test('the mail of a peer with the subject of a wake test is no proof', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  await gateway.call('PATCH', '/v1/gate', { nudges: 'tripped', reason: 'too many' })
  const acked = async (as: { readonly key?: string }) => {
    const input = { to: '@donna', subject: 'Wake test 1a2b3c4d', wakePolicy: 'immediate' }
    const { messageId } = (await gateway.call('POST', '/v1/messages', input, as)).body
    await gateway.call('POST', `/v1/messages/${messageId}/status`, { status: 'acked' }, { key: donna.key })
    return messageId as string
  }
  const open = async (proof: string) =>
    (await gateway.call('PATCH', '/v1/gate', { nudges: 'enabled', proof, backlog: 'skip' })).body
  expect(await open(await acked({ key: lola.key }))).toMatchObject({ status: 400, field: 'proof' })
  expect(await open(await acked({ key: donna.key }))).toMatchObject({ status: 400, field: 'proof' })
  expect(await open(await acked({}))).toMatchObject({ nudges: 'enabled' })
})

test('a tripped gate is not opened on a way around the proof', async () => {
  await using gateway = await startGateway()
  await gateway.call('PATCH', '/v1/gate', { nudges: 'tripped', restarts: 'tripped', reason: 'too many' })
  for (const change of [{ nudges: 'disabled' }, { restarts: 'disabled', backlog: 'off' }]) {
    const { status, body } = await gateway.call('PATCH', '/v1/gate', change)
    expect([status, body.field]).toEqual([400, 'proof'])
  }
  await gateway.call('PATCH', '/v1/gate', { settings: { nudgesPerHour: 2 }, backlog: 'off' })
  expect(await gateOf(gateway)).toMatchObject({ nudges: 'tripped', restarts: 'tripped', reason: 'too many' })
})

test('the operator of one project neither sees nor changes the recovery of another', async () => {
  await using gateway = await startGateway()
  await gateway.call('POST', '/v1/projects', { project: 'web' })
  const web = { 'Rouse-Project': 'web' }
  await gateway.call('POST', '/v1/agents', { handle: 'zoe', access: 'public' }, { headers: web })
  const { body: made } = await gateway.call('POST', '/v1/operator-keys', { role: 'manager', projects: ['default'] })
  const as = { key: made.operatorKey }
  const answers = await Promise.all([
    gateway.call('GET', '/v1/recovery?agent=web:@zoe', undefined, as),
    gateway.call('DELETE', '/v1/parked?agent=web:@zoe', undefined, as),
    gateway.call('PATCH', '/v1/gate', { agent: 'web:@zoe', nudges: 'disabled' }, as),
  ])
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404])
})
