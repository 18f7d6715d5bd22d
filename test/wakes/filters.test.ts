import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { startGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { patch, stateOf } from './acts.ts'

const subjectsOf = (wakes: readonly { body: { payload: { subject: string } } }[]) =>
  wakes.map(({ body }) => body.payload.subject)

// S1-43, S1-47
test.each<[string, JsonObject, readonly string[]]>([
  ['priority', { priority: 'high' }, ['high', 'both']],
  ['concepts', { taggedConcepts: ['review', 'sunset-protocol-handover'] }, ['tagged', 'both']],
  ['priority and concepts', { priority: 'high', taggedConcepts: ['review'] }, ['both']],
  ['the sender', { senderFilter: ['@lola'] }, ['lola']],
])('a filter by %s', async (_, filters, expected) => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME', filters })
  await gateway.send('donna', 'plain')
  await gateway.send('donna', 'high', { message: { metadata: { priority: 'high' } } })
  await gateway.send('donna', 'tagged', { message: { metadata: { taggedConcepts: ['review', 'x'] } } })
  await gateway.send('donna', 'both', { message: { metadata: { priority: 'high', taggedConcepts: ['review'] } } })
  await gateway.send('donna', 'lola', { key: lola.key, message: { metadata: { priority: 'low' } } })
  expect(subjectsOf(await receiver.waitFor(expected.length))).toEqual(expected)
})

test('a filter by the message or the thread that is answered', async () => {
  await using gateway = await startGateway()
  await using all = await startReceiver()
  await using answers = await startReceiver()
  const donna = await gateway.addAgent('donna')
  await gateway.subscribe(donna, all.url, { trigger: 'SENT_TO_ME' })
  const task = await gateway.send('donna', 'first')
  const [first] = await all.waitFor(1)
  const inReplyToFilter = [first!.body.payload.messageId]
  await gateway.subscribe(donna, answers.url, { trigger: 'SENT_TO_ME', filters: { inReplyToFilter }, startFrom: 'now' })
  await gateway.send('donna', 'something else')
  await gateway.send('donna', 'second', { message: { taskId: task.id } })
  await gateway.send('donna', 'third', { message: { taskId: task.id } })
  expect(subjectsOf(await answers.waitFor(2))).toEqual(['second', 'third'])
})

test('silent and next_turn wake no agent, for every priority', async () => {
  await using gateway = await startGateway()
  await using mails = await startReceiver()
  await using states = await startReceiver()
  const donna = await gateway.addAgent('donna')
  await gateway.subscribe(donna, mails.url, { trigger: 'SENT_TO_ME' })
  await gateway.subscribe(donna, states.url)
  for (const wakePolicy of ['silent', 'next_turn']) {
    await gateway.send('donna', wakePolicy, { message: { metadata: { wakePolicy, priority: 'high' } } })
  }
  const last = await gateway.send('donna', 'immediate', { message: { metadata: { wakePolicy: 'immediate' } } })
  // S1-15, S1-16
  expect(subjectsOf(await mails.waitFor(1))).toEqual(['immediate'])
  expect((await states.waitFor(1)).map(({ body }) => body.payload.taskId)).toEqual([last.id])
})

test('an agent may set that it is not woken by default', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna', { defaultWakePolicy: 'next_turn' })
  await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  await gateway.send('donna', 'by default')
  await gateway.send('donna', 'urgent', { message: { metadata: { wakePolicy: 'immediate' } } })
  // D6
  expect(subjectsOf(await receiver.waitFor(1))).toEqual(['urgent'])
})

test('new filters apply to later events, not to earlier ones', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const filters = { priority: 'high' }
  const { id } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME', filters })
  await gateway.send('donna', 'went by')
  expect((await patch(gateway, donna, id, { filters: {} })).body.currentState.filters).toEqual({})
  await gateway.send('donna', 'came')
  const [came] = await receiver.waitFor(1)
  expect(came!.body.payload.subject).toBe('came')
  await until(
    () => stateOf(gateway, donna, id),
    ({ cursorLogId }) => cursorLogId >= came!.body.logId,
  )

  await patch(gateway, donna, id, { trigger: 'TASK_STATE_CHANGED' })
  const task = await gateway.send('donna', 'a task')
  const [, changed] = await receiver.waitFor(2)
  expect(changed!.body).toMatchObject({ eventType: 'wake/task_state_changed', payload: { taskId: task.id } })
})
