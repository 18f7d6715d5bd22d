import { expect, test } from 'vitest'
import { silentLogger } from '../../src/logger/logger.ts'
import { OutboundFetch } from '../../src/security/outbound-fetch.ts'
import { AttemptLog } from '../../src/wakes/attempt-log.ts'
import type { DeliveryOrder } from '../../src/wakes/channel.ts'
import { singleEmission } from '../../src/wakes/content/emission.ts'
import { createAttemptGate } from '../../src/webhooks/attempt-gate.ts'
import { deliverWithRetries } from '../../src/webhooks/attempts.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startNameServer } from '../support/name-server.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { messageSent, subscriptionOf } from '../wakes/builders.ts'

const clock = new FakeClock()

function orderOf(agentId: string, retryAt: DeliveryOrder['retryAt'] = async () => false): DeliveryOrder {
  const subscription = subscriptionOf({ agentId })
  return {
    subscription,
    agentIdentity: agentId,
    emission: singleEmission(subscription, messageSent(1), null, clock.now()),
    attempts: [],
    signal: new AbortController().signal,
    retryAt,
    keep: async () => true,
    waitFor: (value) => value,
    idle: async (wait) => {
      await wait
      return true
    },
  }
}

test('an attempt without a place for its name look-up is postponed, and does not count against its receiver', async () => {
  let isSilent = true
  const zone = () => (isSilent ? ('silence' as const) : ['127.0.0.1'])
  await using server = await startNameServer(zone)
  await using receiver = await startReceiver()
  await using outbound = new OutboundFetch({
    allow: ['127.0.0.0/8'],
    names: { ...server.names, lookupWaitMs: 50 },
  })
  const gate = createAttemptGate()
  const tools = {
    outbound,
    clock,
    random: () => 0,
    log: silentLogger,
    attempts: new AttemptLog(silentLogger),
    gate,
    timeoutMs: 10_000,
  }
  const request = (name: string) => () => ({ url: `http://${name}.test:${receiver.port}/`, headers: {}, body: '{}' })
  const slow = Array.from({ length: 8 }, (_, i) => deliverWithRetries(tools, orderOf('donna'), request(`slow${i}`)))
  await until(
    () => new Set(server.queries).size,
    (count) => count === 8,
  )
  isSilent = false

  const putOff: { attempts: number; inMs: number }[] = []
  const order = orderOf('donna', async (attempts, at) => {
    putOff.push({ attempts: attempts.length, inMs: at - clock.now() })
    return true
  })
  const result = await deliverWithRetries(tools, order, request('quick'))
  expect(result).toMatchObject({ outcome: 'delivered', attempts: [{ status: 200 }] })
  expect(putOff.length).toBeGreaterThan(0)
  for (const one of putOff) expect(one).toEqual({ attempts: 0, inMs: 2_000 })
  await Promise.all(slow)
  expect(gate.inFlight).toBe(0)
})
