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

test.each<[name: string, jumps: number[]]>([
  ['an hour on', [hourMs]],
  ['an hour back', [-hourMs]],
  ['to and fro', [hourMs, -hourMs, -hourMs, hourMs, -hourMs]],
])('the clock is set: %s', { timeout: 300_000 }, async (name, jumps) => {
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
  const watches = [
    await watch(client, donna, steady.url, '@donna tasks, window 0'),
    await watch(client, donna, steady.url, '@donna tasks, window 1 s', {
      metadata: { coalesceWindow: 1, coalesceMode: 'window' },
    }),
    await watch(client, donna, steady.url, '@donna tasks, leading 1 s', { metadata: leading }),
    await watch(client, donna, failing.url, '@donna mail, 503 at times', { trigger: 'SENT_TO_ME' }),
    await watch(client, donna, limiting.url, '@donna mail, 429 at times', { trigger: 'SENT_TO_ME' }),
  ]
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
  const tries = await Promise.all(watches.map(({ id }) => readDeliveries(client, id)))
  const tryCount = tries.flat().reduce((sum, { attempts }) => sum + attempts.length, 0)
  expect(inbox.requestCount + busy.count + asking.count).toBeLessThanOrEqual(
    tryCount + watches.length * jumps.length * 2,
  )
  expect(load.contradictions).toEqual([])
  expect(await forgotten(client, load.acknowledged)).toEqual([])
})

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
