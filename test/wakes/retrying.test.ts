import { expect, test } from 'vitest'
import { run } from '../cli/terminal.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { advanceUntil, stateOf, untilAttempts, untilStatus } from './acts.ts'

test('a subscription whose receiver is away says since when, and when it is tried next', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock, random: () => 0 } })
  await using receiver = await startReceiver(503)
  const donna = await gateway.addAgent('donna')
  const harnessTargetMetadata = { retryForSeconds: 3_600 }
  const { id } = await gateway.subscribe(donna, receiver.url, { harnessTargetMetadata })
  expect(await stateOf(gateway, donna, id)).not.toHaveProperty('retrying')
  const since = new Date(clock.now()).toISOString()
  await gateway.send('donna', 'work')
  await untilAttempts(gateway, donna, id, 1)
  const once = { since, tries: 1, error: 'http-503', nextTryAt: new Date(clock.now() + 1_000).toISOString() }
  expect((await stateOf(gateway, donna, id)).retrying).toEqual(once)
  await advanceUntil(
    clock,
    1_000,
    () => stateOf(gateway, donna, id),
    ({ retrying }) => retrying?.tries === 3,
  )
  const { body } = await gateway.call('GET', '/v1/wake-subscriptions', undefined, donna)
  expect(body.subscriptions).toMatchObject([{ subscriptionId: id, status: 'active', retrying: { since, tries: 3 } }])
  const env = { ROUSE_URL: gateway.url, ROUSE_KEY: donna.key }
  expect((await run(['sub', 'list'], env)).stdout).toContain(
    `active, retrying since ${since} (3 tries, http-503), next try `,
  )
  expect((await run(['who'], env)).stdout).toContain(`@donna: retrying since ${since} (3 tries, http-503), next try `)
  receiver.respond(200)
  await advanceUntil(
    clock,
    1_000,
    () => stateOf(gateway, donna, id),
    ({ retrying }) => retrying === undefined,
  )
})

test('a degraded one says when its receiver is tried next', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock, random: () => 0 } })
  await using receiver = await startReceiver(404)
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url)
  await gateway.send('donna', 'refused')
  const since = (await untilStatus(gateway, donna, id, 'degraded')).updatedAt
  const firstAt = new Date(Date.parse(since) + 30_000).toISOString()
  expect((await stateOf(gateway, donna, id)).retrying).toMatchObject({ since, nextTryAt: firstAt })
  const { retrying } = await advanceUntil(
    clock,
    5_000,
    () => stateOf(gateway, donna, id),
    (state) => state.retrying?.nextTryAt > since,
  )
  expect(retrying).toMatchObject({ since, error: 'http-404' })
})
