import { expect } from 'vitest'
import type { TestAgent, TestGateway } from '../../support/gateway.ts'
import { until } from '../../support/until.ts'
import { deliveriesOf, type Json } from '../../wakes/acts.ts'

export const subscriptionsOf = async (gateway: TestGateway, { key }: TestAgent): Promise<Json[]> =>
  (await gateway.call('GET', '/v1/wake-subscriptions', undefined, { key })).body.subscriptions

export async function mail(gateway: TestGateway, subject: string, from?: TestAgent): Promise<void> {
  const options = from === undefined ? {} : { key: from.key }
  const { status, body } = await gateway.call('POST', '/v1/messages', { to: '@donna', subject }, options)
  expect(status, JSON.stringify(body)).toBe(201)
}

/** The outcomes of the deliveries of an agent, the oldest first. */
export async function outcomes(gateway: TestGateway, agent: TestAgent): Promise<string[]> {
  const [own] = await subscriptionsOf(gateway, agent)
  return (await deliveriesOf(gateway, agent, own.subscriptionId)).map(({ outcome }) => outcome).reverse()
}

export const untilOutcomes = (gateway: TestGateway, agent: TestAgent, expected: readonly string[]) =>
  until(
    () => outcomes(gateway, agent),
    (found) => JSON.stringify(found) === JSON.stringify(expected),
  )
