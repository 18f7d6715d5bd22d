import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { stateOf } from './acts.ts'

const ulid = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

test('a message wakes its recipient', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  const { id } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  const metadata = { priority: 'high', taggedConcepts: ['review'] }
  const text = `\n  ${'s'.repeat(250)}\nthe rest is never sent`
  await gateway.send('donna', text, { key: lola.key, message: { metadata } })

  const [wake] = await receiver.waitFor(1)
  // S1-23, S1-24
  expect(wake!.body).toEqual({
    schemaVersion: '1.0',
    eventType: 'wake/sent_to_me',
    eventId: expect.stringMatching(ulid),
    logId: expect.any(Number),
    prevLogId: null,
    agentIdentity: '@donna',
    subscriptionId: id,
    payload: {
      messageId: expect.stringMatching(/^MESSAGE:[0-9a-f-]{36}$/),
      from: '@lola',
      subject: 's'.repeat(200),
      priority: 'high',
      taggedConcepts: ['review'],
      isReplyTo: null,
      isBroadcast: false,
      taskId: expect.any(String),
    },
    emittedAt: expect.stringMatching(instant),
  })
  expect(id).toMatch(/^WAKE_SUB:[0-9a-f-]{36}$/)
})

test('a follow-up message names the one before it', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  const task = await gateway.send('donna', 'first')
  await gateway.send('donna', 'second', { message: { taskId: task.id } })
  const [first, second] = await receiver.waitFor(2)
  // S1-24
  expect(second!.body.payload).toMatchObject({ subject: 'second', isReplyTo: first!.body.payload.messageId })
})

test('a change of a task wakes both its parties', async () => {
  await using gateway = await startGateway()
  await using donnas = await startReceiver()
  await using lolas = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  await gateway.subscribe(donna, donnas.url, { harnessTargetMetadata: { includeOwn: true } })
  await gateway.subscribe(lola, lolas.url, { harnessTargetMetadata: { includeOwn: true } })
  const task = await gateway.send('donna', 'please review', { key: lola.key })
  await gateway.move(donna, task.id, 'input-required', { message: 'which branch?' })

  const [submitted] = await donnas.waitFor(2)
  // S1-25, D7
  expect(submitted!.body).toMatchObject({ eventType: 'wake/task_state_changed', agentIdentity: '@donna' })
  expect(submitted!.body.payload).toEqual({
    taskId: task.id,
    previousState: null,
    newState: 'Submitted',
    originator: '@lola',
    assignee: '@donna',
    lastModifiedAt: expect.stringMatching(instant),
  })
  const [, waiting] = await lolas.waitFor(2)
  expect(waiting!.body.agentIdentity).toBe('@lola')
  expect(waiting!.body.payload).toMatchObject({ previousState: 'Submitted', newState: 'InputRequired' })
})

test('a permission wakes its grantee, once', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  const { id } = await gateway.subscribe(donna, receiver.url, { trigger: 'PERMISSION_GRANTED' })
  const grant = (scope: string) =>
    gateway.call('POST', '/v1/permissions', { grantee: '@donna', scope }, { key: lola.key })
  expect((await grant('CAN_REPLY_TO')).status).toBe(201)
  expect((await grant('CAN_REPLY_TO')).status).toBe(200)
  await grant('CAN_READ_INBOX_OF')

  const wakes = await receiver.waitFor(2)
  // S1-26, S1-31
  expect(wakes[0]!.body).toMatchObject({ eventType: 'wake/permission_granted', subscriptionId: id })
  expect(wakes[0]!.body.payload).toEqual({
    permissionId: expect.any(String),
    scope: 'CAN_REPLY_TO',
    grantedBy: '@lola',
    grantedAt: expect.stringMatching(instant),
  })
  expect(wakes[1]!.body.payload.scope).toBe('CAN_READ_INBOX_OF')
  expect(wakes[1]!.body.prevLogId).toBe(wakes[0]!.body.logId)
})

test('the headers say what it is, and both signatures verify', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const { id, signingKey } = await gateway.subscribe(donna, receiver.url)
  await gateway.send('donna', 'Grüße 👋')

  const [wake] = await receiver.waitFor(1)
  const { headers, raw, body } = wake!
  // S1-33, S1-36, D2
  expect(signingKey).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'x-neo-wake-signature': createHmac('sha256', signingKey).update(raw).digest('hex'),
    'x-neo-wake-event-id': body.eventId,
    'x-neo-wake-subscription-id': id,
    'x-neo-wake-schema-version': '1.0',
    'webhook-id': body.eventId,
  })
  expect(headers).not.toHaveProperty('x-neo-wake-signature-previous')
  expect(new Webhook(signingKey).verify(raw, headers as Record<string, string>)).toEqual(body)
})

test('two hundred events arrive in order, each pointing at the one before it', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url)
  for (let batch = 0; batch < 4; batch++) {
    await Promise.all(Array.from({ length: 50 }, (_, i) => gateway.send('donna', `task ${batch}.${i}`)))
  }

  const wakes = await receiver.waitFor(200)
  const logIds = wakes.map(({ body }) => body.logId)
  // D15
  expect(wakes.map(({ body }) => body.prevLogId)).toEqual([null, ...logIds.slice(0, -1)])
  expect(logIds).toEqual([...new Set(logIds)].sort((a, b) => a - b))
  expect(new Set(wakes.map(({ body }) => body.eventId)).size).toBe(200)
  const state = await until(
    () => stateOf(gateway, donna, id),
    ({ cursorLogId }) => cursorLogId === logIds.at(-1),
  )
  expect(state).toMatchObject({ lastEmittedLogId: logIds.at(-1), failedInARow: 0, status: 'active' })
})

test.each([
  ['the same target', true, ['wake/sent_to_me']],
  ['two targets', false, ['wake/sent_to_me', 'wake/task_state_changed']],
])('a message to %s of one agent wakes as %o', async (_, same, expected) => {
  // D9
  await using gateway = await startGateway()
  await using one = await startReceiver()
  await using other = await startReceiver()
  const donna = await gateway.addAgent('donna')
  await gateway.subscribe(donna, one.url, { trigger: 'SENT_TO_ME' })
  await gateway.subscribe(donna, same ? one.url : other.url, { harnessTargetMetadata: { includeOwn: true } })
  const task = await gateway.send('donna', 'please review')
  await (same ? one : other).waitFor(1)
  await gateway.move(donna, task.id, 'working')
  await (same ? one : other).waitFor(2)

  const received = [...one.wakes, ...other.wakes].filter(({ body }) => body.payload.newState !== 'Working')
  expect(received.map(({ body }) => body.eventType).sort()).toEqual(expected)
})

// D29
test('a subscription that starts from now starts after the log head', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  await gateway.send('donna', 'before')
  const { id } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME', startFrom: 'now' })
  expect(await stateOf(gateway, donna, id)).toMatchObject({ lastEmittedLogId: null })
  await gateway.send('donna', 'after')
  const wakes = await receiver.waitFor(1)
  expect(wakes.map(({ body }) => body.payload.subject)).toEqual(['after'])
  expect(wakes[0]!.body.prevLogId).toBeNull()
})
