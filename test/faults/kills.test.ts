import { expect, test } from 'vitest'
import { type ProcessGateway, startProcessGateway } from '../support/process-gateway.ts'
import { readLog } from '../support/process-ledger.ts'
import { startReceiver } from '../support/receiver.ts'
import { engines, openStore } from './engines.ts'
import { Inbox } from './inbox.ts'
import { tell } from './insist.ts'
import { forgotten, Load } from './load.ts'
import { numberFromEnv, seededRandom } from './random.ts'
import { balance, watch } from './watch.ts'

const kills = numberFromEnv('FAULTS_KILLS', 100)
const seed = numberFromEnv('FAULTS_SEED', 1)
/** From when a process is up, or from its start where it may go before that. */
const lifeMaxMs = 1_000

test.each(engines)(`kill -9 at ${kills} random moments (%s)`, { timeout: 1_800_000 }, async (engine) => {
  // Of its own, so that the seed repeats the kills however many requests come between.
  const random = seededRandom(seed)
  const slowness = seededRandom(seed + 1)
  const inbox = new Inbox()
  // Nothing worth a warning happens, except that on a shared store each process takes over what the last one has left.
  const logLevel = engine === 'SQLite' ? 'warn' : 'error'
  await using store = await openStore(engine)
  await using gateway = await startProcessGateway({ ROUSE_LOG_LEVEL: logLevel, ROUSE_STORM_TURNS: '0', ...store.env })
  await using first = await startReceiver(inbox.answering(() => slowness() * 10))
  await using second = await startReceiver(inbox.answering())
  await using third = await startReceiver(inbox.answering(() => slowness() * 40))
  const donna = await gateway.addAgent('@donna')
  const lola = await gateway.addAgent('@lola')
  const mail = { trigger: 'SENT_TO_ME' } as const
  const watches = [
    await watch(gateway, donna, first.url, '@donna tasks'),
    await watch(gateway, donna, third.url, '@donna tasks, window 1 s', {
      metadata: { coalesceWindow: 1, coalesceMode: 'window' },
    }),
    await watch(gateway, donna, third.url, '@donna tasks, 8 in flight', { metadata: { maxInFlight: 8 } }),
    await watch(gateway, donna, second.url, '@donna tasks, high', { priority: 'high' }),
    await watch(gateway, donna, first.url, '@donna mail', mail),
    await watch(gateway, donna, third.url, '@donna mail, high', { ...mail, priority: 'high' }),
    await watch(gateway, lola, third.url, '@lola tasks'),
    await watch(gateway, lola, first.url, '@lola mail', mail),
  ]
  const load = new Load(gateway, {
    senders: [{ from: lola, to: donna }, { to: donna }, { to: donna }, { from: donna, to: lola }],
    pauseMs: 20,
    push: { url: `${second.url}push`, every: 25 },
    harness: donna,
  })
  inbox.onWake = load.onWake

  const whileStarting = await killAgainAndAgain(gateway, random)
  await load.stop()

  const notes = [
    `seed ${seed} · ${kills} kills while it served, ${whileStarting} more while it started · ${load.acceptedCount} messages accepted`,
    tell(load.trouble),
  ]
  await balance(
    `kill -9, ${kills + whileStarting} times, ${engine}`,
    { client: gateway, inbox, watches, pushed: load.pushed },
    notes,
  )
  expect(load.contradictions).toEqual([])
  expect(await forgotten(gateway, load.acknowledged)).toEqual([])
  // Not more than requested: a message that was repeated with its idempotency key was accepted once.
  const taken = (await readLog(gateway)).filter(({ type }) => type === 'message.sent')
  expect(taken).toHaveLength(load.acceptedCount)
  expect([...load.trouble.keys()].filter((kind) => /: 5\d\d /.test(kind))).toEqual([])
})

/** Kills one process after the other at random times, and starts the next one at once. Returns how many were not up yet. */
async function killAgainAndAgain(gateway: ProcessGateway, random: () => number): Promise<number> {
  let whileStarting = 0
  let isUp = true
  let started: Promise<unknown> = Promise.resolve()
  for (let whileServing = 0; whileServing < kills; ) {
    // Most have taken up the load when they go; some go in the middle of taking up what the last one left.
    if (random() < 0.75) await started
    await new Promise((resolve) => setTimeout(resolve, random() * lifeMaxMs))
    if (isUp) whileServing++
    else whileStarting++
    // A process that ended without a kill is a failure.
    expect(await gateway.kill('SIGKILL')).toMatchObject({ signal: 'SIGKILL', stderr: '' })
    await started
    isUp = false
    const restart = gateway.restart()
    started = restart.then(
      () => (isUp = true),
      () => {},
    )
    if (whileServing === kills) await restart
  }
  return whileStarting
}
