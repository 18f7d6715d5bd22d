import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { connectClient } from '../support/process-client.ts'
import { type ReceivedWake, startReceiver } from '../support/receiver.ts'
import { Inbox } from './inbox.ts'
import { JumpingClock } from './jumping-clock.ts'
import { forgotten, Load } from './load.ts'
import { balance, readDeliveries, watch } from './watch.ts'

const hourMs = 3_600_000
/** Under load on both sides of each jump. */
const stretchMs = 3_000
/** No window, retry or look of the dispatcher takes longer than this by a steady clock. */
const lateMaxMs = 25_000
const timeout = 300_000
const everything = ['window 0', 'window 1 s', 'leading 1 s', '503', '429']

const back: Jumps = ['an hour back', [-hourMs]]
const toAndFro: Jumps = ['to and fro', [hourMs, -hourMs, -hourMs, hourMs, -hourMs]]
type Jumps = [name: string, jumps: number[]]

test('the clock is set: an hour on', { timeout }, () => underLoad('an hour on', [hourMs], everything))

test.each([back, toAndFro])('the clock is set: %s; single events and retries', { timeout }, (name, jumps) =>
  underLoad(name, jumps, ['window 0', '503']),
)

// Known to fail: what waits for an instant in the store (a window, a Retry-After) waits for the clock to come there again.
test.fails.each([back, toAndFro])('the clock is set: %s; windows and long waits', { timeout }, (name, jumps) =>
  underLoad(name, jumps, ['window 1 s', 'leading 1 s', '429']),
)

async function underLoad(name: string, jumps: readonly number[], kept: readonly string[]): Promise<void> {
  const clock = new JumpingClock()
  const inbox = new Inbox()
  await using gateway = await startGateway({ overrides: { clock } })
  const client = connectClient(gateway.url, gateway.adminKey)
  await using steady = await startReceiver(inbox.answering())
  const busy = new Refusals(20, 503)
  await using failing = await startReceiver(busy.before(inbox))
  const asking = new Refusals(40, 429, '11') // longer than a run waits: left to the schedule in the store
  await using limiting = await startReceiver(asking.before(inbox))
  const donna = await client.addAgent('@donna')
  const leading = { coalesceWindow: 1, coalesceMode: 'leading' }
  const all = [
    await watch(client, donna, steady.url, '@donna tasks, window 0'),
    await watch(client, donna, steady.url, '@donna tasks, window 1 s', { metadata: { coalesceWindow: 1 } }),
    await watch(client, donna, steady.url, '@donna tasks, leading 1 s', { metadata: leading }),
    await watch(client, donna, failing.url, '@donna mail, 503 at times', { trigger: 'SENT_TO_ME' }),
    await watch(client, donna, limiting.url, '@donna mail, 429 at times', { trigger: 'SENT_TO_ME' }),
  ]
  const watches = all.filter((watched) => kept.some((kind) => watched.name.includes(kind)))
  const load = new Load(client, { senders: [{ to: donna }, { to: donna }], pauseMs: 150, harness: donna })
  inbox.onWake = load.onWake

  await pause(stretchMs)
  for (const jump of jumps) {
    clock.jump(jump)
    await pause(stretchMs)
  }
  await load.stop()
  const stoppedAt = performance.now()
  const notes = [`set by ${jumps.map((ms) => `${ms / hourMs} h`).join(', ')} · ${load.acceptedCount} messages accepted`]
  const rows = await balance(`the clock is set: ${name}`, { client, inbox, watches }, notes, lateMaxMs)
  console.log(`  everything was there ${Math.round(performance.now() - stoppedAt)} ms after the last message`)

  // Neither late nor in a storm: a jump costs a repetition here and there, of what was in flight.
  for (const { repeats } of rows) expect(repeats).toBeLessThanOrEqual(jumps.length * 2)
  const tries = await Promise.all(all.map(({ id }) => readDeliveries(client, id)))
  const tryCount = tries.flat().reduce((sum, { attempts }) => sum + attempts.length, 0)
  expect(inbox.requestCount + busy.count + asking.count).toBeLessThanOrEqual(tryCount + all.length * jumps.length * 2)
  expect(load.contradictions).toEqual([])
  expect(await forgotten(client, load.told)).toEqual([])
}

/** Refuses every nth request, before it counts as come. */
class Refusals {
  count = 0
  #requestCount = 0
  readonly #every: number
  readonly #status: number
  readonly #retryAfter: string | undefined

  constructor(every: number, status: number, retryAfter?: string) {
    this.#every = every
    this.#status = status
    this.#retryAfter = retryAfter
  }

  before(inbox: Inbox) {
    const answer = inbox.answering()
    return (wake: ReceivedWake, res: ServerResponse): void => {
      if (++this.#requestCount % this.#every > 0) {
        answer(wake, res)
        return
      }
      this.count++
      res.statusCode = this.#status
      if (this.#retryAfter) res.setHeader('Retry-After', this.#retryAfter)
      res.end()
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
