import { expect, test } from 'vitest'
import { readWakes } from '../support/wake-reader.ts'
import { stateOf, untilStatus } from '../wakes/acts.ts'
import { startTwo } from './two-gateways.ts'

const stream = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon', harnessTargetMetadata: { coalesceWindow: 0 } }

test('a stream on one gateway gets what another accepts, and its receipts may go to either', async () => {
  await using two = await startTwo()
  const { a, b } = two
  const donna = await a.addAgent('donna')
  const { body } = await b.call('POST', '/v1/wake-subscriptions', stream, { key: donna.key })
  const id: string = body.subscriptionId
  await using reader = await readWakes(a, donna, [id])
  for (let count = 1; count <= 6; count++) {
    await b.send('donna', `message ${count}`)
    const wakes = await reader.waitFor(count)
    const { eventId } = wakes[count - 1]!
    const gateway = count % 2 === 0 ? a : b
    const receipt = [{ eventId, step: 'delivered' }]
    const { body } = await gateway.call('POST', '/v1/wake-stream/receipts', receipt, { key: donna.key })
    expect(body.receipts).toEqual([{ eventId, outcome: 'delivered' }])
  }
  expect(new Set(reader.wakes.map(({ eventId }) => eventId)).size).toBe(6)
})

test('a newer stream on another gateway takes over, and gets what was open', async () => {
  await using two = await startTwo()
  const { a, b } = two
  const donna = await a.addAgent('donna')
  const { body } = await a.call('POST', '/v1/wake-subscriptions', stream, { key: donna.key })
  const id: string = body.subscriptionId
  await using first = await readWakes(a, donna, [id])
  await b.send('donna', 'open')
  const [open] = await first.waitFor(1)
  await using second = await readWakes(b, donna, [id])
  const [again] = await second.waitFor(1)
  expect(again!.raw).toBe(open!.raw)
  await first.ended()
  expect(first.released).toEqual([{ subscriptionId: id, reason: 'replaced' }])
  expect(await stateOf(a, donna, id)).toMatchObject({ status: 'active' })
})

test('the streams of a gateway that stops leave their subscriptions waiting', async () => {
  await using two = await startTwo()
  const { a, b, start } = two
  const donna = await a.addAgent('donna')
  const { body } = await b.call('POST', '/v1/wake-subscriptions', stream, { key: donna.key })
  const third = await start()
  await using reader = await readWakes(third, donna, [body.subscriptionId])
  await third[Symbol.asyncDispose]()
  await reader.ended()
  await untilStatus(b, donna, body.subscriptionId, 'waiting')
  await a.send('donna', 'meanwhile')
  await using next = await readWakes(a, donna, [body.subscriptionId])
  const [digest] = await next.waitFor(1)
  expect(digest!.body.payload).toMatchObject({ reason: 'waiting', eventCount: 1 })
})
