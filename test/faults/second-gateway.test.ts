import { expect, test } from 'vitest'
import { runRouse, startProcessGateway } from '../support/process-gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { Inbox } from './inbox.ts'
import { tell } from './insist.ts'
import { forgotten, Load } from './load.ts'
import { balance, watch } from './watch.ts'

const intrusions = 5

test('other gateways that start on the same data directory are refused, and disturb nothing', {
  timeout: 300_000,
}, async () => {
  const inbox = new Inbox()
  await using gateway = await startProcessGateway()
  await using receiver = await startReceiver(inbox.answering())
  const donna = await gateway.addAgent('@donna')
  const watches = [
    await watch(gateway, donna, receiver.url, '@donna tasks'),
    await watch(gateway, donna, receiver.url, '@donna tasks, window 1 s', {
      metadata: { coalesceWindow: 1, coalesceMode: 'window' },
    }),
  ]
  const load = new Load(gateway, { senders: [{ to: donna }, { to: donna }], pauseMs: 10, harness: donna })
  inbox.onWake = load.onWake

  for (let i = 0; i < intrusions; i++) {
    await using second = runRouse(['serve', '--json', '--data-dir', gateway.dataDir, '--port', '0', '--grpc-port', '0'])
    const ended = await second.exited
    expect(ended).toMatchObject({ code: 1, stdout: '' })
    expect(ended.stderr).toContain(`Another gateway is running on ${gateway.dataDir}`)
  }

  await load.stop()
  const notes = [`${intrusions} others were refused · ${load.acceptedCount} messages accepted`, tell(load.trouble)]
  const rows = await balance('a second gateway', { client: gateway, inbox, watches }, notes)
  expect(rows.map(({ repeats }) => repeats)).toEqual([0, 0])
  expect([...load.trouble.keys()]).toEqual([])
  expect(await forgotten(gateway, load.acknowledged)).toEqual([])
})
