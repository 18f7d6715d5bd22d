import { expect, test } from 'vitest'
import { begin } from '../sessions/sessions.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { besideStore } from '../support/store.ts'
import { patch } from '../wakes/acts.ts'

const mail = (gateway: TestGateway, subject: string, fields: object = {}) =>
  gateway.call('POST', '/v1/messages', { to: '@donna', subject, ...fields })
const subscribe = (gateway: TestGateway, agent: TestAgent, url: string, trigger: string) =>
  gateway.subscribe(agent, url, { trigger, harnessTargetMetadata: { coalesceWindow: 0 } })

/** Removes every event that the log has, as retention does. Returns the newest logId that is gone. */
async function prune(gateway: TestGateway): Promise<number> {
  const [row] = await besideStore(gateway.dataDir, "select log_head from project where id = 'default'")
  await besideStore(gateway.dataDir, 'delete from event_audience')
  await besideStore(gateway.dataDir, 'delete from event')
  await besideStore(gateway.dataDir, "update project set log_tail = log_head where id = 'default'")
  return Number(row!.log_head)
}

// D39, S2-19
test('mail and open tasks older than the log are announced when a subscription is made', async () => {
  await using gateway = await startGateway()
  await using mailReceiver = await startReceiver()
  await using taskReceiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const { body } = await mail(gateway, 'old news', { priority: 'high', taggedConcepts: ['billing'] })
  await mail(gateway, 'nothing to hear', { wakePolicy: 'silent' })
  const task = await gateway.send('donna', 'please review')
  const prunedTo = await prune(gateway)
  await mail(gateway, 'new')
  await subscribe(gateway, donna, mailReceiver.url, 'SENT_TO_ME')
  await subscribe(gateway, donna, taskReceiver.url, 'TASK_STATE_CHANGED')
  const [digest] = await mailReceiver.waitFor(1)
  expect(digest!.body).toMatchObject({
    eventType: 'wake/digest',
    payload: {
      reason: 'waiting',
      eventCount: 3,
      newMessages: 3,
      latestMessage: { subject: 'new' },
      fromLogId: prunedTo,
      refs: [
        { logId: prunedTo, messageId: body.messageId },
        { logId: prunedTo, taskId: task.id },
        { logId: prunedTo + 1 },
      ],
    },
  })
  const [ofTasks] = await taskReceiver.waitFor(1)
  expect(ofTasks!.body.payload).toMatchObject({
    reason: 'waiting',
    eventCount: 1,
    latestTaskTransition: { taskId: task.id, newState: 'Submitted', originator: '@operator', assignee: '@donna' },
  })
})

test('filters choose among mail older than the log too', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  await mail(gateway, 'from the operator')
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'from lola' }, lola)
  await prune(gateway)
  await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME', filters: { senderFilter: ['@lola'] } })
  const [digest] = await receiver.waitFor(1)
  expect(digest!.body.payload).toMatchObject({ eventCount: 1, latestMessage: { subject: 'from lola', from: '@lola' } })
})

test('they are announced when a session starts that has not got them with its start', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const made = await gateway.subscribe(donna, receiver.url, {
    trigger: 'SENT_TO_ME',
    harnessTargetMetadata: { coalesceWindow: 300, coalesceMode: 'window' },
  })
  await mail(gateway, 'old news')
  await prune(gateway)
  await begin(gateway, donna, { drain: false })
  const [digest] = await receiver.waitFor(1)
  expect(digest!.body).toMatchObject({ subscriptionId: made.id, payload: { reason: 'waiting', eventCount: 1 } })
})

test('a paused subscription that the log has overtaken announces them when it becomes active', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const { id } = await subscribe(gateway, donna, receiver.url, 'SENT_TO_ME')
  await patch(gateway, donna, id, { status: 'paused' })
  await mail(gateway, 'old news')
  await prune(gateway)
  await mail(gateway, 'new')
  await patch(gateway, donna, id, { status: 'active' })
  const [digest] = await receiver.waitFor(1)
  expect(digest!.body.payload).toMatchObject({ reason: 'waiting', eventCount: 2, latestMessage: { subject: 'new' } })
})
