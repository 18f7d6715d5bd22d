import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { patch, sendMany, stateOf, untilStatus } from './acts.ts'

test('a receiver that never answers delays no other receiver', async () => {
  await using gateway = await startGateway()
  await using hanging = await startReceiver(() => {})
  await using healthy = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  for (let i = 0; i < 20; i++) await gateway.subscribe(donna, `${hanging.url}${i}`)
  await gateway.subscribe(donna, `${healthy.url}donna`)
  await gateway.subscribe(lola, `${healthy.url}lola`)
  await gateway.send('donna', 'to both kinds')
  await hanging.waitFor(20)

  await Promise.all([sendMany(gateway, 'donna', 20), sendMany(gateway, 'lola', 20)])
  const wakes = await healthy.waitFor(41)
  expect(wakes.filter(({ body }) => body.agentIdentity === '@lola')).toHaveLength(20)
  expect(hanging.wakes).toHaveLength(20)
})

test('a degraded, a paused and a retrying subscription delay no other subscription', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using refusing = await startReceiver(401)
  await using failing = await startReceiver(500)
  await using healthy = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const degraded = await gateway.subscribe(donna, refusing.url)
  const paused = await gateway.subscribe(donna, `${healthy.url}paused`)
  await gateway.subscribe(donna, failing.url)
  const lola = await gateway.addAgent('lola')
  await gateway.subscribe(donna, `${healthy.url}donna`)
  await gateway.subscribe(lola, `${healthy.url}lola`)
  await patch(gateway, donna, paused.id, { status: 'paused' })
  await gateway.send('donna', 'first')
  await untilStatus(gateway, donna, degraded.id, 'degraded')

  await Promise.all([sendMany(gateway, 'donna', 10), sendMany(gateway, 'lola', 10)])
  await healthy.waitFor(21)
  expect(refusing.wakes).toHaveLength(1)
  expect(failing.wakes).toHaveLength(1)
  expect(await stateOf(gateway, donna, paused.id)).toMatchObject({ status: 'paused', lastEmittedLogId: null })
})
