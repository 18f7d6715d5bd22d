import { expect, test } from 'vitest'
import { startPushService } from '../support/push-service.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { startTwo } from './two-gateways.ts'

test('what waits for a person is told once by two gateways, and is put off at both', async () => {
  await using two = await startTwo()
  await using watch = await startReceiver()
  const { a, b } = two
  const donna = await a.addAgent('donna')
  const request = { trigger: 'NEED_CHANGED', harnessTargetMetadata: { url: watch.url, coalesceWindow: 0 } }
  await a.call('POST', '/v1/wake-subscriptions', request)
  const write = (subject: string) => b.call('POST', '/v1/messages', { to: '@operator', subject }, donna)
  const { body: first } = await write('May I?')
  await watch.waitFor(1)
  const until = new Date(Date.now() + 3_600_000).toISOString()
  await b.call('POST', '/v1/needs/snooze', { need: first.messageId, until })
  const { body } = await a.call('GET', '/v1/needs')
  expect(body.needs).toMatchObject([{ id: first.messageId, snoozedUntil: until }])
  // The gateways have looked again: the first is told no second time.
  const { body: second } = await write('And this?')
  const wakes = await watch.waitFor(2)
  expect(wakes.map(({ body: { payload } }) => payload.need)).toEqual([first.messageId, second.messageId])
})

test('two gateways send what stops work to a browser once', async () => {
  await using two = await startTwo()
  await using service = await startPushService()
  const { a, b } = two
  const donna = await a.addAgent('donna')
  expect(await b.call('POST', '/v1/push/subscriptions', service.device('phone'))).toMatchObject({ status: 201 })
  const ask = async (subject: string) => {
    const { id } = await b.send(donna.handle, subject)
    await b.move(donna, id, 'input-required', { message: 'Where?' })
  }
  await ask('First')
  const received = (count: number) =>
    until(
      () => service.received.map(({ notification }) => notification.subject),
      (subjects) => subjects.length >= count,
      60_000,
    )
  await received(1)
  await ask('Second')
  expect(await received(2)).toEqual(['First', 'Second'])
})
