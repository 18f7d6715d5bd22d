import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { SetClock } from '../support/set-clock.ts'
import { advanceUntil, deliveriesOf, stateOf, untilAttempts } from './acts.ts'

const hourMs = 3_600_000
const windowMs = 30_000
/** A set clock is noticed within this. */
const noticedMs = 5_000
/** Fake time runs on while real work is done: how long a wake took is known only roughly. */
const longMs = 600_000

async function start() {
  const clock = new SetClock()
  const gateway = await startGateway({ overrides: { clock, random: () => 0 } })
  const donna = await gateway.addAgent('donna')
  const subscribe = (url: string, harnessTargetMetadata = {}) =>
    gateway.subscribe(donna, url, { trigger: 'SENT_TO_ME', harnessTargetMetadata })
  return { clock, gateway, donna, subscribe }
}

// S1-39: a window is as long as it says, whatever the clock does meanwhile
test('a window that is open when the clock is set back closes in its time', async () => {
  const { clock, gateway, subscribe } = await start()
  await using _gateway = gateway
  await using receiver = await startReceiver()
  await subscribe(receiver.url, { coalesceWindow: windowMs / 1000, coalesceMode: 'window' })
  await gateway.send('donna', 'before')
  clock.set(-hourMs)
  const setAt = clock.now()
  await untilWakes(receiver, 1, clock)
  expect(clock.now() - setAt).toBeLessThan(longMs)
  expect(receiver.wakes[0]!.body.payload).toMatchObject({ eventCount: 1 })
})

// D3
test('leading: the window after a wake is not an hour longer when the clock was set back in it', async () => {
  const { clock, gateway, donna, subscribe } = await start()
  await using _gateway = gateway
  await using receiver = await startReceiver()
  const { id } = await subscribe(receiver.url, { coalesceWindow: windowMs / 1000, coalesceMode: 'leading' })
  await gateway.send('donna', 'first')
  await receiver.waitFor(1)
  await advanceUntil(
    clock.steady,
    0,
    () => stateOf(gateway, donna, id),
    (state) => state.lastEmittedLogId === receiver.wakes[0]!.body.logId,
  )
  clock.set(-hourMs)
  const setAt = clock.now()
  clock.steady.advance(noticedMs)
  await gateway.send('donna', 'second')
  await untilWakes(receiver, 2, clock)
  expect(clock.now() - setAt).toBeLessThan(longMs)
  expect(receiver.wakes[1]!.body.prevLogId).toBe(receiver.wakes[0]!.body.logId)
})

// S1-34, D4
test('a Retry-After wait ends at once when the clock is set back in it', async () => {
  const { clock, gateway, donna, subscribe } = await start()
  await using _gateway = gateway
  await using receiver = await startReceiver((_wake, res, nth) => {
    if (nth === 1) res.writeHead(429, { 'Retry-After': '60' })
    res.end()
  })
  const { id } = await subscribe(receiver.url)
  await gateway.send('donna', 'later, please')
  await untilAttempts(gateway, donna, id, 1, clock.steady)
  clock.set(-hourMs)
  const setAt = clock.now()
  await untilWakes(receiver, 2, clock)
  expect(clock.now() - setAt).toBeLessThan(longMs)
  const [delivery] = await untilDelivered(() => deliveriesOf(gateway, donna, id), clock)
  expect(delivery.attempts.map(({ status }: { status: number }) => status)).toEqual([429, 200])
})

test('a clock that is set back a little cuts neither a window nor a wait short', async () => {
  const { clock, gateway, donna, subscribe } = await start()
  await using _gateway = gateway
  await using receiver = await startReceiver()
  await using asking = await startReceiver((_wake, res, nth) => {
    if (nth === 1) res.writeHead(429, { 'Retry-After': '60' })
    res.end()
  })
  await subscribe(receiver.url, { coalesceWindow: windowMs / 1000, coalesceMode: 'window' })
  const { id } = await subscribe(asking.url)
  const sentAt = clock.steady.now()
  await gateway.send('donna', 'waits')
  await untilAttempts(gateway, donna, id, 1, clock.steady)
  clock.set(-2_000)
  await untilWakes(receiver, 1, clock)
  expect(clock.steady.now() - sentAt).toBeGreaterThanOrEqual(windowMs)
  await untilWakes(asking, 2, clock)
  expect(clock.steady.now() - sentAt).toBeGreaterThanOrEqual(60_000)
})

test('a clock that was set back while no gateway ran is noticed at the start', async () => {
  const { clock, gateway, subscribe } = await start()
  await using receiver = await startReceiver()
  await subscribe(receiver.url, { coalesceWindow: windowMs / 1000, coalesceMode: 'window' })
  await gateway.send('donna', 'before')
  await gateway.stop()
  clock.set(-hourMs)
  await using _second = await startGateway({ dataDir: gateway.dataDir, overrides: { clock } })
  const startedAt = clock.now()
  await untilWakes(receiver, 1, clock)
  expect(clock.now() - startedAt).toBeLessThan(longMs)
})

function untilDelivered<T extends { outcome: string }[]>(read: () => Promise<T>, clock: SetClock): Promise<T> {
  return advanceUntil(clock.steady, 0, read, (deliveries) => deliveries[0]?.outcome === 'delivered')
}

function untilWakes({ wakes }: Receiver, wanted: number, clock: SetClock): Promise<number> {
  return advanceUntil(
    clock.steady,
    500,
    () => wakes.length,
    (count) => count === wanted,
  )
}
