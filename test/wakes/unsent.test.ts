import { expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { besideStore } from '../support/store.ts'
import { until } from '../support/until.ts'
import { deliveriesOf, patch, stateOf } from './acts.ts'

const send = async (gateway: TestGateway, subject: string, fields: object = {}) =>
  (await gateway.call('POST', '/v1/messages', { to: '@donna', subject, ...fields })).body.messageId
const heldPage = async (gateway: TestGateway, agent: TestAgent, id: string, query = '') =>
  (await gateway.call('GET', `/v1/wake-subscriptions/${id}/held${query}`, undefined, agent)).body
const heldOf = async (gateway: TestGateway, agent: TestAgent, id: string) => (await heldPage(gateway, agent, id)).held
const rowsOf = async (gateway: TestGateway) =>
  Number((await besideStore(gateway.dataDir, 'select count(*) as kept from held_wake'))[0]!.kept)

// D27: it writes nothing, however long it is paused
test('what a paused subscription waits for is listed as paused, without a row for each event', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  await patch(gateway, donna, id, { status: 'paused' })
  const ids = [await send(gateway, 'one'), await send(gateway, 'two')]
  const quiet = await send(gateway, 'quiet', { wakePolicy: 'silent' })
  expect(await heldOf(gateway, donna, id)).toMatchObject([
    { action: 'store_only', reason: 'silent', messageId: quiet },
    { action: 'wait', reason: 'paused', messageId: ids[1] },
    { action: 'wait', reason: 'paused', messageId: ids[0] },
  ])
  expect(await rowsOf(gateway)).toBe(0)
  await patch(gateway, donna, id, { status: 'active' })
  await receiver.waitFor(1)
  await until(
    () => heldOf(gateway, donna, id),
    (held) => held.length === 1,
  )
})

// D27, D17: an agent with hundreds of subscriptions would write hundreds of rows for each
test('what a policy or an own act decides is listed for each subscription, without a row', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const ids: string[] = []
  for (let n = 0; n < 3; n++) ids.push((await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })).id)
  const own = await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'a note' }, donna)
  const quiet = await send(gateway, 'quiet', { wakePolicy: 'next_turn' })
  for (const id of ids) {
    expect(await heldOf(gateway, donna, id)).toMatchObject([
      { action: 'hold_for_next_turn', reason: 'next_turn', messageId: quiet },
      { action: 'store_only', reason: 'own_act', messageId: own.body.messageId },
    ])
  }
  expect(await rowsOf(gateway)).toBe(0)
  expect(receiver.wakes).toEqual([])
})

// D17
test('of many subscriptions an own act wakes those that ask for it, and those of others', async () => {
  await using gateway = await startGateway()
  await using asking = await startReceiver()
  await using others = await startReceiver()
  const donna = await gateway.addAgent('donna')
  for (let n = 0; n < 3; n++) await gateway.subscribe(donna, others.url, { trigger: 'SENT_TO_ME' })
  // Text that reads like the member does not count.
  const url = `${others.url}?"includeOwn":true`
  await gateway.subscribe(donna, url, { trigger: 'SENT_TO_ME' })
  const metadata = { coalesceWindow: 0, includeOwn: true }
  const fields = { trigger: 'SENT_TO_ME', harnessTargetMetadata: metadata }
  await gateway.subscribe(donna, asking.url, fields)
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'a note' }, donna)
  const [wake] = await asking.waitFor(1)
  expect(wake!.body.payload.subject).toBe('a note')
  await send(gateway, 'from outside')
  const outside = await others.waitFor(4)
  expect(outside.map(({ body }) => body.payload.subject)).toEqual(new Array(4).fill('from outside'))
})

// D27
test('what a degraded subscription waits for is listed as degraded', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver(410)
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  await send(gateway, 'refused')
  await until(
    () => stateOf(gateway, donna, id),
    ({ status }) => status === 'degraded',
  )
  await send(gateway, 'later')
  expect((await heldOf(gateway, donna, id)).map(({ reason }: { reason: string }) => reason)).toEqual([
    'degraded',
    'degraded',
  ])
})

// D27, D28
test.each(['mcp-notifications', 'bridge-daemon'])('what waits for a channel to %s is listed', async (harnessTarget) => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const input = { trigger: 'SENT_TO_ME', harnessTarget }
  const { body } = await gateway.call('POST', '/v1/wake-subscriptions', input, donna)
  await send(gateway, 'hello')
  const [held] = await heldOf(gateway, donna, body.subscriptionId)
  expect(['no_channel', 'presence_unknown']).toContain(held.reason)
})

// D27, D9
test('what another subscription of the same target sent is listed as sent elsewhere', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const mail = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  const tasks = await gateway.subscribe(donna, receiver.url)
  const task = await gateway.send('donna', 'hello')
  const [wake] = await receiver.waitFor(1)
  expect(wake!.body.eventType).toBe('wake/sent_to_me')
  const held = await until(
    () => heldOf(gateway, donna, tasks.id),
    (list) => list.length === 1,
  )
  expect(held).toMatchObject([
    { action: 'skip', reason: 'told_elsewhere', taskId: task.id, messageId: wake!.body.payload.messageId },
  ])
  expect(await heldOf(gateway, donna, mail.id)).toEqual([])
})

// D27, D9
test('what the agent took along with a call before its wake was due is listed as already in hand', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url, {
    trigger: 'SENT_TO_ME',
    harnessTargetMetadata: { coalesceWindow: 1, coalesceMode: 'window' },
  })
  const messageId = await send(gateway, 'hello')
  await gateway.call('POST', '/v1/sessions', { surface: 'codex' }, donna)
  await until(
    () => heldOf(gateway, donna, id),
    (list) => list.length === 1,
  )
  expect(await heldOf(gateway, donna, id)).toMatchObject([{ action: 'skip', reason: 'already_in_hand', messageId }])
  for (const { body } of receiver.wakes) expect(body.eventType).not.toBe('wake/sent_to_me')
})

// D27
test('pages name each event once, in order, also where most of the log was sent', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  const quiet: string[] = []
  for (let n = 0; n < 6; n++) {
    await send(gateway, 'sent')
    quiet.push(await send(gateway, 'quiet', { wakePolicy: n % 2 ? 'silent' : 'next_turn' }))
  }
  await until(
    () => deliveriesOf(gateway, donna, id),
    (deliveries) => deliveries.filter(({ outcome }) => outcome === 'delivered').length === 6,
  )
  await patch(gateway, donna, id, { status: 'paused' })
  for (let n = 0; n < 3; n++) quiet.push(await send(gateway, 'waits'))
  const seen: string[] = []
  for (let token = '', more = true; more; more = token !== '') {
    const page = await heldPage(gateway, donna, id, `?limit=2${token && `&pageToken=${token}`}`)
    expect(page.held.length).toBeLessThanOrEqual(2)
    seen.push(...page.held.map(({ messageId }: { messageId: string }) => messageId))
    token = page.nextPageToken
  }
  expect(seen).toEqual(quiet.reverse())
})

// D27, D38
test('mail that a digest brought is not listed, although it was read in the same millisecond; mail that the digest left out is', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url, {
    trigger: 'SENT_TO_ME',
    harnessTargetMetadata: { coalesceWindow: 1, coalesceMode: 'window' },
  })
  const digestOf = async (subjects: readonly string[], leftOut?: string) => {
    const ids = new Map<string, string>()
    for (const subject of subjects) ids.set(subject, await send(gateway, subject))
    if (leftOut) {
      await gateway.call('POST', `/v1/messages/${ids.get(leftOut)}/status`, { status: 'seen' }, { key: donna.key })
    }
    const [digest] = await until(
      () => deliveriesOf(gateway, { ...donna, key: gateway.adminKey }, id),
      ([newest]) => newest?.outcome === 'delivered' && newest.eventCount === subjects.length - (leftOut ? 1 : 0),
    )
    return { ids, madeAt: Date.parse(digest.attempts[0].at) }
  }
  const whole = await digestOf(['one', 'two', 'three'])
  const read =
    "update message_recipient set delivery_method = 'fetch', delivered_at = ?, status = 'seen' where message_id = ?"
  await besideStore(gateway.dataDir, read, whole.madeAt, whole.ids.get('two')!)
  expect(await heldOf(gateway, donna, id)).toEqual([])

  const { ids } = await digestOf(['four', 'five', 'six', 'seven', 'eight'], 'five')
  expect(await heldOf(gateway, donna, id)).toMatchObject([
    { action: 'skip', reason: 'already_in_hand', messageId: ids.get('five') },
  ])
})
