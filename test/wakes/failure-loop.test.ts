import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

test('subscriptions whose failed wakes wake each other send once for each failure, and not without end', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver(413)
  const mallory = await gateway.addAgent('mallory')
  for (const path of ['one', 'two']) await gateway.subscribe(mallory, receiver.url + path, { trigger: 'WAKE_FAILED' })
  await gateway.subscribe(mallory, `${receiver.url}mail`, { trigger: 'SENT_TO_ME' })
  const failures = async (): Promise<number> => {
    const { body } = await gateway.call('GET', '/v1/events?since=0&limit=1000')
    return body.events.filter(({ type }: { type: string }) => type === 'wake.failed').length
  }
  for (let mails = 1; mails <= 3; mails++) {
    await gateway.call('POST', '/v1/messages', { to: '@mallory', subject: `mail ${mails}` })
    // The mail, and its failure to both that listen to failures.
    await receiver.waitFor(3 * mails)
    await until(failures, (count) => count >= 3 * mails)
  }
  expect(receiver.wakes).toHaveLength(9)
  expect(await failures()).toBe(9)
})
