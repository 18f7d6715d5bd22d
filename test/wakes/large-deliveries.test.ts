import { expect, test } from 'vitest'
import { sizeLimits } from '../../src/limits.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { besideStore } from '../support/store.ts'

/** Twelve attempts at one wake, to a receiver that answers with as much as is kept. */
const attempts = JSON.stringify(
  Array.from({ length: 12 }, () => ({
    at: '2026-04-26T10:00:00.000Z',
    status: 503,
    durationMs: 1,
    error: null,
    response: 'x'.repeat(2_048),
  })),
)
const count = 150

/** A subscription of mallory whose wakes all failed. Returns the path of their records. */
async function failDeliveries(gateway: TestGateway, mallory: TestAgent): Promise<string> {
  const input = { trigger: 'SENT_TO_ME', harnessTarget: 'mcp-notifications' }
  const { body } = await gateway.call('POST', '/v1/wake-subscriptions', input, mallory)
  const row = `(?, ?, 'wake/sent_to_me', 1, 1, 1, ?, 'failed', 1, 1)`
  const values = Array.from({ length: count }, (_, n) => [
    body.subscriptionId,
    `0${`${n}`.padStart(25, '0')}`,
    attempts,
  ])
  await besideStore(
    gateway.dataDir,
    `insert into delivery (subscription_id, event_id, event_type, from_log_id, to_log_id, event_count, attempts, outcome,
      created_at, updated_at) values ${values.map(() => row).join(', ')}`,
    ...values.flat(),
  )
  return `/v1/wake-subscriptions/${body.subscriptionId}/deliveries`
}

test('a page of deliveries with long answers is bounded by its size, and each delivery is in one page', async () => {
  await using gateway = await startGateway()
  const mallory = await gateway.addAgent('mallory')
  const path = await failDeliveries(gateway, mallory)
  const seen: string[] = []
  let pages = 0
  for (let token = ''; pages === 0 || token !== ''; pages++) {
    const { body } = await gateway.call('GET', `${path}?limit=500${token && `&pageToken=${token}`}`, undefined, mallory)
    expect(JSON.stringify(body).length).toBeLessThan(sizeLimits.page.max * 1.1)
    seen.push(...body.deliveries.map(({ eventId }: { eventId: string }) => eventId))
    token = body.nextPageToken
  }
  expect(pages).toBe(4)
  expect([seen.length, new Set(seen).size]).toEqual([count, count])
})
