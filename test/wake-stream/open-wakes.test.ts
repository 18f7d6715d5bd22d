import { expect, test } from 'vitest'
import { UnreadAnswers } from '../../src/admission/unread-answers.ts'
import { WakeStream } from '../../src/wake-stream/wake-stream.ts'
import { begin } from '../sessions/sessions.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { logLines } from '../support/log-lines.ts'
import { startReceiver } from '../support/receiver.ts'
import { besideStore, refuseInserts } from '../support/store.ts'
import { until } from '../support/until.ts'
import { readWakes } from '../support/wake-reader.ts'
import { advanceUntil, deliveriesOf, type Json, patch, resync, stateOf, untilStatus } from '../wakes/acts.ts'

async function subscribe(gateway: TestGateway, agent: TestAgent, input: Json = {}): Promise<string> {
  const { harnessTargetMetadata, ...rest } = input
  const metadata = { coalesceWindow: 0, ...harnessTargetMetadata }
  const request = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon', harnessTargetMetadata: metadata, ...rest }
  return (await gateway.call('POST', '/v1/wake-subscriptions', request, { key: agent.key })).body.subscriptionId
}

const mail = (gateway: TestGateway, subject: string) => gateway.call('POST', '/v1/messages', { to: '@donna', subject })

const recorded = (gateway: TestGateway, agent: TestAgent, id: string, count: number) =>
  until(
    async () => (await deliveriesOf(gateway, agent, id)).filter(({ outcome }) => outcome === 'delivered').length,
    (delivered) => delivered === count,
  )

// S1-34
test.each(['the agent', 'an operator'])('a replay is over with the receipt of %s', async (who) => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const id = await subscribe(gateway, donna)
  const key = who === 'the agent' ? donna.key : gateway.adminKey
  await using reader = await readWakes(gateway, { ...donna, key }, [id])
  await mail(gateway, 'again')
  const [first] = await reader.waitFor(1)
  await reader.report(first!.eventId, 'delivered')
  // At once: the cursor may not have passed the wake yet.
  const path = `/v1/wake-subscriptions/${id}/replay`
  expect((await gateway.call('POST', path, { eventId: first!.eventId }, donna)).body.eventsReplayed).toBe(1)
  const [, again] = await reader.waitFor(2)
  expect(again!.body).toMatchObject({ logId: first!.body.logId, payload: { subject: 'again' } })
  expect(await reader.report(again!.eventId, 'delivered')).toBe('delivered')
  await mail(gateway, 'next')
  const [, , next] = await reader.waitFor(3)
  expect(next!.body.payload.subject).toBe('next')
})

// S1-29, S1-32
test('a resync sends again what was reported while no stream was open, and its record stands', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const id = await subscribe(gateway, donna)
  const first = await readWakes(gateway, donna, [id])
  await mail(gateway, 'zero')
  const [zero] = await first.waitFor(1)
  await first.report(zero!.eventId, 'delivered')
  await mail(gateway, 'one')
  const [, one] = await first.waitFor(2)
  await first[Symbol.asyncDispose]()
  await untilStatus(gateway, donna, id, 'waiting')
  expect(await first.report(one!.eventId, 'delivered')).toBe('delivered')
  expect((await resync(gateway, donna, id, zero!.body.logId)).body).toMatchObject({ eventsReplayed: 1 })
  await using second = await readWakes(gateway, donna, [id])
  const [again] = await second.waitFor(1)
  expect(again!.body.logId).toBe(one!.body.logId)
  expect(again!.eventId).not.toBe(one!.eventId)
  const records = await deliveriesOf(gateway, donna, id)
  expect(records.find(({ eventId }) => eventId === one!.eventId)).toMatchObject({ outcome: 'delivered' })
})

// D31
test('a failure is counted although the clock of the gateway that takes its receipt is slow', async () => {
  // Small steps: a lease must not run out while the store answers.
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  const id = await subscribe(gateway, donna)
  await using reader = await readWakes(gateway, donna, [id])
  await mail(gateway, 'hard')
  const [wake] = await reader.waitFor(1)
  await reader.report(wake!.eventId, 'failed')
  await advanceUntil(
    clock,
    100,
    () => reader.wakes.length,
    (count) => count === 2,
  )
  clock.advance(-600_000)
  await reader.report(wake!.eventId, 'failed')
  await advanceUntil(
    clock,
    100,
    () => reader.wakes.length,
    (count) => count === 3,
  )
})

// D31
test('events that come during a long wait are sent after the receipt that ends it', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  const id = await subscribe(gateway, donna, { harnessTargetMetadata: { retryForSeconds: 3600 } })
  await using reader = await readWakes(gateway, donna, [id])
  await mail(gateway, 'hard')
  for (let count = 1; count <= 6; count++) {
    await advanceUntil(
      clock,
      1_000,
      () => reader.wakes.length,
      (wakes) => wakes === count,
    )
    await reader.report(reader.wakes[0]!.eventId, 'failed')
  }
  await mail(gateway, 'easy')
  expect(await reader.report(reader.wakes[0]!.eventId, 'delivered')).toBe('delivered')
  const wakes = await until(
    () => {
      clock.advance(0)
      return reader.wakes
    },
    ({ length }) => length === 7,
    5_000,
  )
  expect(wakes[6]!.eventId).not.toBe(wakes[0]!.eventId)
})

// D24
test('an open wake goes to the new target as it was, and not again to the old one', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const id = await subscribe(gateway, donna)
  const first = await readWakes(gateway, donna, [id])
  await mail(gateway, 'open')
  const [open] = await first.waitFor(1)
  await first[Symbol.asyncDispose]()
  await untilStatus(gateway, donna, id, 'waiting')
  await patch(gateway, donna, id, { harnessTarget: 'a2a-webhook', harnessTargetMetadata: { url: receiver.url } })
  const [sent] = await receiver.waitFor(1)
  expect(sent!.body.eventId).toBe(open!.eventId)
  await recorded(gateway, donna, id, 1)
  await patch(gateway, donna, id, { harnessTarget: 'bridge-daemon' })
  await using second = await readWakes(gateway, donna, [id])
  await mail(gateway, 'new')
  const [next] = await second.waitFor(1)
  expect(JSON.stringify(next!.body.payload)).toContain('new')
  expect(next!.eventId).not.toBe(open!.eventId)
})

// D29, D34
test('a process that a wake has started begins a session, and no wake follows from that', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const id = await subscribe(gateway, donna)
  await using reader = await readWakes(gateway, donna, [id])
  const task = await gateway.send('donna', 'long work')
  const [wake] = await reader.waitFor(1)
  await begin(gateway, donna)
  await gateway.move(donna, task.id, 'working')
  await reader.report(wake!.eventId, 'delivered')
  await recorded(gateway, donna, id, 1)
  await gateway.send('donna', 'next')
  const [, next] = await reader.waitFor(2)
  expect(next!.body.payload).toMatchObject({ subject: 'next' })
})

// D28
test('a stream that the store does not know any more ends, so that its reader connects again', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  const id = await subscribe(gateway, donna)
  await using reader = await readWakes(gateway, donna, [id])
  const taken = "update subscription set status = 'waiting', due_at = null, stream_id = null, stream_gateway = null"
  await besideStore(gateway.dataDir, taken)
  await until(
    () => {
      clock.advance(10_000)
      return reader.hasEnded
    },
    (hasEnded) => hasEnded,
  )
  expect(reader.released).toEqual([])
})

test('a reader that reports nothing and has its cursor moved back again and again holds a bounded number of wakes', () => {
  let hasEnded = false
  const end = (): void => {
    hasEnded = true
  }
  const reader = { write: () => undefined, release() {}, end }
  const stream = new WakeStream('stream', 'donna', ['one'], reader)
  const sign = () => ({ body: '{}', headers: {} })
  for (let count = 0; count < 10_000 && !hasEnded; count++) void stream.send(`event-${count}`, sign)
  expect(hasEnded).toBe(true)
})

test('a receipt that comes between two runs is the answer to the second: the wake is not written again', async () => {
  const written: string[] = []
  const reader = { write: (eventId: string) => void written.push(eventId), release() {}, end() {} }
  const stream = new WakeStream('stream', 'donna', ['one'], reader)
  const sign = () => ({ body: '{}', headers: {} })
  const delivered = { outcome: 'delivered' } as const
  void stream.send('event', sign)
  stream.leave('event')
  expect(stream.report('event', delivered)).toBe(false)
  expect(await stream.send('event', sign)).toEqual(delivered)
  // A run that waits gets it itself: what is tried again after that is written.
  const again = stream.send('event', sign)
  stream.leave('event')
  void stream.send('event', sign)
  expect(stream.report('event', { outcome: 'retry' })).toBe(true)
  expect(await again).toEqual({ outcome: 'retry' })
  void stream.send('event', sign)
  expect(written).toEqual(['event', 'event', 'event'])
})

test('emissions that are open are sent again in the order of the log, also after the clock was set back', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const id = await subscribe(gateway, donna, { harnessTargetMetadata: { maxInFlight: 2 } })
  const first = await readWakes(gateway, donna, [id])
  for (const subject of ['one', 'two']) await mail(gateway, subject)
  const [one, two] = await first.waitFor(2)
  await first[Symbol.asyncDispose]()
  await untilStatus(gateway, donna, id, 'waiting')
  const ofEarlier = `0${two!.eventId.slice(1, 9)}0${two!.eventId.slice(10)}`.replace(/^01/, '00')
  await besideStore(gateway.dataDir, `update delivery set event_id = '${ofEarlier}' where event_id = ?`, two!.eventId)
  await using second = await readWakes(gateway, donna, [id])
  const wakes = await second.waitFor(2)
  expect(wakes.map(({ body }) => body.logId)).toEqual([one!.body.logId, two!.body.logId])
})

// D28
test('a stream whose end the store has refused leaves its subscription waiting as soon as the store takes writes', async () => {
  const clock = new FakeClock()
  const { log, of } = logLines('info')
  await using gateway = await startGateway({ overrides: { clock, log } })
  const donna = await gateway.addAgent('donna')
  const id = await subscribe(gateway, donna)
  const reader = await readWakes(gateway, donna, [id])
  const heal = await refuseInserts(gateway.dataDir, 'event')
  await reader[Symbol.asyncDispose]()
  await until(
    () => of('wake_stream.not_recorded').length,
    (count) => count === 1,
  )
  expect(await stateOf(gateway, donna, id)).toMatchObject({ status: 'active' })
  await heal()
  await advanceUntil(
    clock,
    10_000,
    () => stateOf(gateway, donna, id),
    ({ status }) => status === 'waiting',
  )
})

test('a stream whose key has too many unread bytes ends, and its wake stays open', async () => {
  class Full extends UnreadAnswers {
    override isFull(): boolean {
      return true
    }
  }
  await using gateway = await startGateway({ overrides: { unread: new Full() } })
  const donna = await gateway.addAgent('donna')
  const id = await subscribe(gateway, donna)
  await using reader = await readWakes(gateway, donna, [id])
  await mail(gateway, 'unread')
  await reader.ended()
  await untilStatus(gateway, donna, id, 'waiting')
  expect(await deliveriesOf(gateway, donna, id)).toMatchObject([{ outcome: 'pending', attempts: [] }])
})

// Agents write what is in a wake. Each body is one line, so nothing in it can be read as a field or an event of the stream.
test('what a sender writes is never read as a field of the stream', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const id = await subscribe(gateway, donna)
  await using reader = await readWakes(gateway, donna, [id])
  const text = 'a\r\n\r\nevent: released\ndata: {}\n\nid: 7\rdata: b\u2028\u2029\u0085'
  await gateway.send('donna', text)
  const [wake] = await reader.waitFor(1)
  expect(wake!.raw).not.toMatch(/[\r\n]/)
  expect(JSON.parse(wake!.raw).eventId).toBe(wake!.eventId)
  expect(reader.released).toEqual([])
})
