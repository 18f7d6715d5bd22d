import { expect, test } from 'vitest'
import { begin, say } from '../sessions/sessions.ts'
import { startReceiver } from '../support/receiver.ts'
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

// S1-10, D17
test('an edge that one gateway hears goes to the stream of another, and its steps to the sender, once', async () => {
  await using two = await startTwo()
  await using receiver = await startReceiver()
  const { a, b } = two
  const donna = await a.addAgent('donna')
  const mike = await a.addAgent('mike')
  await a.subscribe(mike, receiver.url, { trigger: 'WAKE_RECEIPT', harnessTargetMetadata: { coalesceWindow: 0 } })
  const { body } = await a.call('POST', '/v1/wake-subscriptions', stream, { key: donna.key })
  await using reader = await readWakes(a, donna, [body.subscriptionId], ['turn/start'])
  await begin(b, donna)
  await say(b, donna, { state: 'active', source: 'bridge-daemon', activeTurnId: 't' })
  const { body: sent } = await b.call('POST', '/v1/messages', { to: '@donna', subject: 'one' }, { key: mike.key })
  await say(b, donna, { state: 'idle', source: 'bridge-daemon' })
  const [digest] = await reader.waitFor(1)
  expect(digest!.body).toMatchObject({ eventType: 'wake/digest', payload: { eventCount: 1 } })
  const receipts = [{ eventId: digest!.eventId, step: 'turn_started', source: 'codex: turn/started' }]
  for (const gateway of [b, a, b]) await gateway.call('POST', '/v1/wake-stream/receipts', receipts, { key: donna.key })
  const [received] = await receiver.waitFor(1)
  expect(received!.body.payload).toMatchObject({ messageId: sent.messageId, step: 'turn_started', source: 'codex' })
  const { body: read } = await a.call('GET', `/v1/messages/${sent.messageId}`, undefined, { key: mike.key })
  expect(read.recipients).toMatchObject([{ receipt: 'turn_started', wake: { step: 'turn_started', source: 'codex' } }])
  expect(receiver.wakes.length).toBe(1)
})
