// Runs one engine in its own process. It gets its engine and its work as a message, warms up, reports that, waits for the start,
// works, and reports its measurements.
import { setTimeout as sleep } from 'node:timers/promises'
import { quantile } from './stats.mjs'
import { nowUs, plainText, stamped } from './work.mjs'

const deadlineMs = 300_000
const backlogMax = 100_000

process.on('disconnect', () => process.exit(1))
const { module, targets, settings, service, work } = await new Promise((resolve) => process.once('message', resolve))
const { open } = await import(module)
const engine = await open({ targets, settings, service })
let next = 0
try {
  if (work.warmUp) await burst(work.warmUp, work.inFlight)
  if (work.warmUpSeconds) await openLoop(work.rate, work.warmUpSeconds, () => plainText)
  const go = new Promise((resolve) => process.once('message', resolve))
  process.send({ ready: true })
  await go
  const result = work.rate ? await openLoop(work.rate, work.seconds, stamped) : await burst(work.events, work.inFlight)
  process.send(result)
  const finish = new Promise((resolve) => process.once('message', resolve))
  const account = work.settleMs ? await settleAccount() : undefined
  process.send({ accepted: next, records: await engine.records?.(), account })
  await finish
} finally {
  await engine.close()
}
process.exit(0)

/** Accepts events with this many in flight, and ends when the last one is recorded. */
async function burst(count, inFlight) {
  const target = next + count
  const startedAt = performance.now()
  const accept = async () => {
    while (next < target) await engine.accept(next++, plainText)
  }
  await Promise.all(Array.from({ length: inFlight }, accept))
  const acceptedAt = performance.now()
  const finished = await untilRecorded(target, startedAt + deadlineMs)
  return { seconds: (performance.now() - startedAt) / 1000, acceptSeconds: (acceptedAt - startedAt) / 1000, finished }
}

/**
 * Starts events at a steady rate, whatever becomes of those before. Latencies count from the moment at which an event
 * was due, so that a stall shows in every event that it held up; the timer adds up to a millisecond to each.
 */
async function openLoop(rate, seconds, textOf) {
  const total = Math.round(rate * seconds)
  const first = next
  const startedAt = nowUs()
  const acks = []
  let answered = 0
  for (let launched = 0; launched < total; ) {
    const due = Math.min(total, Math.floor(((nowUs() - startedAt) / 1e6) * rate) + 1)
    for (; launched < due; launched++) {
      const dueAt = startedAt + (launched / rate) * 1e6
      engine.accept(next++, textOf(Math.round(dueAt))).then(() => {
        answered++
        acks.push((nowUs() - dueAt) / 1000)
      })
    }
    if (launched - answered > backlogMax) break
    await sleep(1)
  }
  const launchedSeconds = (nowUs() - startedAt) / 1e6
  const finished = work.settleMs ? true : await untilRecorded(next, performance.now() + 60_000)
  const seconds_ = (nowUs() - startedAt) / 1e6
  return {
    seconds: seconds_,
    launched: next - first,
    rate: (next - first) / launchedSeconds,
    ack: { p50: quantile(acks, 0.5), p99: quantile(acks, 0.99) },
    finished,
  }
}

async function untilRecorded(target, deadline) {
  while (engine.recorded < target) {
    if (performance.now() > deadline) return false
    await sleep(1)
  }
  // The record of a delivered event may not be on disk yet.
  while (engine.records && (await engine.records()) < target) {
    if (performance.now() > deadline) return false
    await sleep(1)
  }
  return true
}

/** Waits until nothing more is under way but for receivers that are dead, then says what became of every event. */
async function settleAccount() {
  const deadline = performance.now() + work.settleMs
  for (;;) {
    const account = await engine.account()
    const waiting = account
      .filter(({ target }) => !target.includes(`:${work.deadPort}/`))
      .some((one) => one.waiting > 0)
    if (!waiting || performance.now() > deadline) return account
    await sleep(250)
  }
}
