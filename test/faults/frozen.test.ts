import { expect, test } from 'vitest'
import { startProcessGateway } from '../support/process-gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { Inbox } from './inbox.ts'
import { tell } from './insist.ts'
import { forgotten, Load } from './load.ts'
import { balance, watch } from './watch.ts'

const frozenMs = 5_000
const freezes = 3

// Longer than an attempt may take: requests in flight have timed out when the process continues.
test('a gateway that is frozen for a while continues', { timeout: 300_000 }, async () => {
  const inbox = new Inbox()
  await using gateway = await startProcessGateway({ ROUSE_WEBHOOK_TIMEOUT: '2', ROUSE_STORM_TURNS: '0' })
  await using prompt = await startReceiver(inbox.answering())
  await using slow = await startReceiver(inbox.answering(() => 50))
  const donna = await gateway.addAgent('@donna')
  const lola = await gateway.addAgent('@lola')
  const watches = [
    await watch(gateway, donna, prompt.url, '@donna tasks'),
    await watch(gateway, donna, prompt.url, '@donna tasks, window 1 s', {
      metadata: { coalesceWindow: 1, coalesceMode: 'window' },
    }),
    await watch(gateway, donna, slow.url, '@donna tasks, 16 in flight', { metadata: { maxInFlight: 16 } }),
    await watch(gateway, lola, slow.url, '@lola mail', { trigger: 'SENT_TO_ME' }),
  ]
  const senders = [{ from: lola, to: donna }, { to: donna }, { from: donna, to: lola }]
  const load = new Load(gateway, { senders, pauseMs: 20, harness: donna })
  inbox.onWake = load.onWake

  for (let i = 0; i < freezes; i++) {
    await pause(2_000)
    gateway.signal('SIGSTOP')
    await pause(frozenMs)
    gateway.signal('SIGCONT')
  }
  await pause(2_000)

  await load.stop()
  const notes = [`${freezes} times ${frozenMs} ms · ${load.acceptedCount} messages accepted`, tell(load.trouble)]
  const rows = await balance('SIGSTOP, then SIGCONT', { client: gateway, inbox, watches }, notes)
  expect(rows.map(({ failed }) => failed)).toEqual([0, 0, 0, 0])
  expect(load.contradictions).toEqual([])
  expect(await forgotten(gateway, load.acknowledged)).toEqual([])
})

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
