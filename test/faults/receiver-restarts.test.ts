import { expect, test } from 'vitest'
import { type ProcessGateway, startProcessGateway } from '../support/process-gateway.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { Inbox } from './inbox.ts'
import { tell } from './insist.ts'
import { forgotten, Load } from './load.ts'
import { numberFromEnv, seededRandom } from './random.ts'
import { balance, readDeliveries, watch } from './watch.ts'

const restarts = 20
const seed = numberFromEnv('FAULTS_SEED', 1)
/** Four attempts take 8 s, longer on a busy machine. */
const failureMaxMs = 60_000

test('a receiver that restarts misses only the events that are recorded as failed', { timeout: 300_000 }, async () => {
  const random = seededRandom(seed)
  const inbox = new Inbox()
  await using gateway = await startProcessGateway()
  await using steady = await startReceiver(inbox.answering())
  let restless: Receiver = await startReceiver(inbox.answering())
  const { url, port } = restless
  const away = async (untilBack: () => Promise<unknown>): Promise<void> => {
    await restless[Symbol.asyncDispose]()
    await untilBack()
    restless = await startReceiver(inbox.answering(), port)
  }
  const donna = await gateway.addAgent('@donna')
  const lola = await gateway.addAgent('@lola')
  const watches = [
    await watch(gateway, donna, url, '@donna tasks'),
    await watch(gateway, donna, url, '@donna tasks, window 1 s', {
      metadata: { coalesceWindow: 1, coalesceMode: 'window' },
    }),
    await watch(gateway, donna, url, '@donna mail, 2 in flight', {
      trigger: 'SENT_TO_ME',
      metadata: { maxInFlight: 2 },
    }),
    await watch(gateway, lola, steady.url, '@lola tasks, steady receiver'),
  ]
  const load = new Load(gateway, { senders: [{ from: lola, to: donna }, { to: donna }], pauseMs: 30, harness: donna })
  inbox.onWake = load.onWake

  for (let i = 0; i < restarts; i++) {
    await pause(300 + random() * 700)
    await away(() => pause(random() * 400))
  }
  await pause(3_000)
  // One event fails, and a retry of the next one succeeds. Three failures would degrade the subscription: at most two are in flight.
  const awayFrom = Date.now()
  await away(() =>
    until(
      () => failuresOf(gateway, watches[0]!.id),
      ({ length }) => length > 0,
      failureMaxMs,
    ),
  )
  const outageMs = Date.now() - awayFrom
  await pause(1_000)

  await load.stop()
  const notes = [
    `seed ${seed} · ${restarts} restarts, then ${outageMs} ms away · ${load.acceptedCount} messages accepted`,
    tell(load.trouble),
  ]
  const rows = await balance('a receiver that restarts', { client: gateway, inbox, watches }, notes)
  await using _last = restless
  // The gap is recorded, and the account has seen it in prevLogId; no other subscription has one.
  expect(rows[0]!.failed).toBeGreaterThan(0)
  expect(rows[3]).toMatchObject({ failed: 0, repeats: 0 })
  for (const { id } of watches) {
    for (const { attempts } of await failuresOf(gateway, id))
      expect(attempts.map(({ error }) => error)).toEqual(attempts.map(() => expect.stringMatching(/connect|reset/)))
    expect(await gateway.call('GET', `/v1/wake-subscriptions/${id}`)).toMatchObject({ body: { status: 'active' } })
  }
  expect(await forgotten(gateway, load.acknowledged)).toEqual([])
})

async function failuresOf(gateway: ProcessGateway, id: string) {
  return (await readDeliveries(gateway, id)).filter(({ outcome }) => outcome === 'failed')
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
