import { expect, test } from 'vitest'
import { furtherOfReport } from '../../src/fronts/rest/wake-stream/report-receipts.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { blockWrites } from '../support/store.ts'
import { readWakes } from '../support/wake-reader.ts'
import { openWakeSocket } from '../support/wake-socket.ts'

async function subscribe(gateway: TestGateway, { key }: TestAgent): Promise<string> {
  const input = {
    trigger: 'SENT_TO_ME',
    harnessTarget: 'bridge-daemon',
    harnessTargetMetadata: { coalesceWindow: 0 },
  }
  return (await gateway.call('POST', '/v1/wake-subscriptions', input, { key })).body.subscriptionId
}

const unknown = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ eventId: `UNKNOWN${index}`, step: 'delivered' }))

const report = (gateway: TestGateway, { key }: TestAgent, receipts: readonly object[]) =>
  gateway.call('POST', '/v1/wake-stream/receipts', receipts, { key })

test.each([
  [1, 0],
  [9, 0],
  [10, 1],
  [100, 10],
])('a report of %i receipts counts as %i further requests', (receipts, further) => {
  expect(furtherOfReport(receipts)).toBe(further)
})

test('a report that names no wake of the caller waits for no writer', async () => {
  await using gateway = await startGateway()
  const mallory = await gateway.addAgent('mallory')
  for (let count = 0; count < 5; count += 1) await subscribe(gateway, mallory)
  const letWrite = await blockWrites(gateway.dataDir)
  try {
    const { status, body } = await report(gateway, mallory, unknown(100))
    expect(status).toBe(200)
    expect(body.receipts).toEqual(unknown(100).map(({ eventId }) => ({ eventId, outcome: 'unknown' })))
  } finally {
    await letWrite()
  }
})

test('a wake among unknown ones is recorded, also a decided one, and each has its answer in order', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await using reader = await readWakes(gateway, donna, [await subscribe(gateway, donna)])
  await gateway.send('donna', 'hello')
  const [{ eventId } = { eventId: '' }] = await reader.waitFor(1)
  const [first, second] = unknown(2)
  const of = async (step: string) => (await report(gateway, donna, [first!, { eventId, step }, second!])).body.receipts
  const answer = (outcome: string) => [
    { eventId: first!.eventId, outcome: 'unknown' },
    { eventId, outcome },
    { eventId: second!.eventId, outcome: 'unknown' },
  ]
  expect(await of('held')).toEqual(answer('pending'))
  expect(await of('delivered')).toEqual(answer('delivered'))
  expect(await of('turn_started')).toEqual(answer('delivered'))
})

test("another agent's wake is unknown", async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const mallory = await gateway.addAgent('mallory')
  await using reader = await readWakes(gateway, donna, [await subscribe(gateway, donna)])
  await gateway.send('donna', 'hello')
  const [{ eventId } = { eventId: '' }] = await reader.waitFor(1)
  const { body } = await report(gateway, mallory, [{ eventId, step: 'delivered' }])
  expect(body).toEqual({ receipts: [{ eventId, outcome: 'unknown' }] })
})

test('a long report counts as several requests, over HTTP and in a message of a WebSocket', async () => {
  await using gateway = await startGateway({ overrides: { clock: new FakeClock() } })
  const mallory = await gateway.addAgent('mallory')
  const id = await subscribe(gateway, mallory)
  await gateway.call('PATCH', '/v1/projects/default', { limits: { requestsPerMinute: 30 } })
  using reader = await openWakeSocket(gateway, mallory, [id])
  // Of 30, the subscription and the stream have taken two at most, and each report takes eleven.
  expect((await report(gateway, mallory, unknown(100))).status).toBe(200)
  expect((await reader.report(unknown(100))).receipts).toHaveLength(100)
  expect(await reader.report(unknown(100))).toMatchObject({ code: 'rate-limited', limitName: 'requestsPerMinute' })
  expect((await report(gateway, mallory, unknown(100))).body).toMatchObject({ code: 'rate-limited' })
})
