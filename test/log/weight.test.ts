import { expect, test } from 'vitest'
import { KiB, MiB, sizeLimits } from '../../src/limits.ts'
import type { LogEvent, NewEvent } from '../../src/log/event.ts'
import { RecentEvents } from '../../src/log/recent-events.ts'
import { startGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { besideStore } from '../support/store.ts'

/** The largest that a message may be about. */
const taggedConcepts = Array.from({ length: 100 }, (_, n) => `${n}`.padEnd(200, 'x'))

test('a flood of the largest events is cached up to a bound, with the newest', () => {
  const recent = new RecentEvents()
  const data = { subject: 's'.repeat(200), taggedConcepts, message: { taggedConcepts } }
  for (let logId = 1; logId <= 5_000; logId++) {
    const event = { projectId: 'default', logId, type: 'message.sent', data } as unknown as LogEvent
    recent.add([{ ...event, trigger: 'SENT_TO_ME', taskId: null }], [{ audience: ['agent'] } as unknown as NewEvent])
  }
  expect(recent.weight).toBeLessThanOrEqual(16 * MiB)
  expect(recent.weight).toBeGreaterThan((16 * MiB) / 2)
  const page = recent.page('default', 'agent', { after: 4_990, upTo: 5_000, limit: 100 })
  expect(page?.map(({ logId }) => logId)).toEqual([4991, 4992, 4993, 4994, 4995, 4996, 4997, 4998, 4999, 5000])
  expect(recent.page('default', 'agent', { after: 1, upTo: 5_000, limit: 100 })).toBeUndefined()
})

test('one event that exceeds the bound is cached alone', () => {
  const recent = new RecentEvents(8, 1_000)
  for (let logId = 1; logId <= 3; logId++) {
    const event = {
      projectId: 'default',
      logId,
      data: { text: 'x'.repeat(5_000) },
      taskId: null,
    } as unknown as LogEvent
    recent.add([event], [{ audience: ['agent'] } as unknown as NewEvent])
  }
  expect(recent.page('default', 'agent', { after: 2, upTo: 3, limit: 9 })).toHaveLength(1)
  expect(recent.weight).toBeLessThan(6_000)
})

test('a hundred of the largest messages fill neither memory, nor disk, nor a page; a restart continues with them', async () => {
  await using receiver = await startReceiver(503)
  const gateway = await startGateway()
  const mallory = await gateway.addAgent('mallory')
  const metadata = { taggedConcepts }
  // Retried for a while, so that the events wait when the gateway starts again.
  await gateway.subscribe(mallory, receiver.url, {
    trigger: 'SENT_TO_ME',
    harnessTargetMetadata: { includeOwn: true },
  })
  const send = () => gateway.send('mallory', 'x'.repeat(1_000), { key: mallory.key, message: { metadata } })
  for (let n = 0; n < 10; n++) await Promise.all(Array.from({ length: 10 }, send))

  const [events] = await besideStore(gateway.dataDir, 'select max(octet_length(data)) as largest from event')
  expect(Number(events?.largest)).toBeLessThan(64 * 1024)

  const logIds: number[] = []
  for (let since = 0, more = true; more; ) {
    const { body } = await gateway.call('GET', `/v1/events?since=${since}&limit=1000`, undefined, mallory)
    expect(JSON.stringify(body).length).toBeLessThan(sizeLimits.page.max + 64 * 1024)
    logIds.push(...body.events.map(({ logId }: { logId: number }) => logId))
    since = body.nextSince
    more = body.more
  }
  expect(logIds).toEqual([...new Set(logIds)].sort((a, b) => a - b))
  expect(logIds.length).toBeGreaterThan(200)

  await gateway.stop()
  receiver.respond(200)
  await using again = await startGateway({ dataDir: gateway.dataDir })
  await again.call(
    'PATCH',
    `/v1/wake-subscriptions/${await subscriptionOf(again.call, mallory)}`,
    { status: 'active' },
    mallory,
  )
  await again.send('mallory', 'one more', { key: mallory.key, message: { metadata } })
  const wakes = await receiver.waitFor(receiver.wakes.length + 1)
  for (const { raw } of wakes) expect(raw.length).toBeLessThan(64 * KiB + 1_024)
  expect((await again.call('GET', '/readyz')).status).toBe(200)
})

async function subscriptionOf(
  call: Awaited<ReturnType<typeof startGateway>>['call'],
  agent: { key: string },
): Promise<string> {
  return (await call('GET', '/v1/wake-subscriptions', undefined, agent)).body.subscriptions[0].subscriptionId
}
