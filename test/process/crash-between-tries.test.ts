import { expect, test } from 'vitest'
import { startProcessGateway } from '../support/process-gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

// S1-34: three retries, no matter how many processes it takes to make them.
test('the tries that were made and the time of the next one survive kill -9', async () => {
  await using gateway = await startProcessGateway()
  await using receiver = await startReceiver(503)
  const donna = await gateway.addAgent('@donna')
  const { id } = await gateway.subscribe(donna, receiver.url)
  await gateway.send(donna, 'one')
  const delivery = (tries: number) =>
    until(
      async () => (await gateway.call('GET', `/v1/wake-subscriptions/${id}/deliveries`)).body.deliveries[0],
      (found) => found?.attempts.length === tries,
    )

  for (const tries of [1, 2, 3]) {
    const { outcome, nextAttemptAt } = await delivery(tries)
    expect(outcome).toBe('pending')
    await gateway.kill('SIGKILL')
    await gateway.restart()
    const wakes = await receiver.waitFor(tries + 1)
    expect(wakes.at(-1)!.at).toBeGreaterThanOrEqual(Date.parse(nextAttemptAt))
  }

  const failed = await delivery(4)
  expect(failed.outcome).toBe('failed')
  expect(receiver.wakes.map(({ body }) => body.eventId)).toEqual(Array(4).fill(failed.eventId))
})
