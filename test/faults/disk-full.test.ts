import { expect, test } from 'vitest'
import type { ProcessClient } from '../support/process-client.ts'
import { startProcessGateway } from '../support/process-gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { Inbox } from './inbox.ts'
import { tell } from './insist.ts'
import { limitedFileSize, smallFileSystem } from './little-room.ts'
import { forgotten, Load } from './load.ts'
import { balance, watch } from './watch.ts'

const fullMs = 4_000

test.each([
  ['files may not grow', limitedFileSize],
  ['the file system is full', smallFileSystem],
])('no room: %s', { timeout: 300_000 }, async (name, makeRoom) => {
  using room = makeRoom()
  if (!room) return console.log(`\nno room: ${name}: this user or this system cannot, so it is left out`)
  const inbox = new Inbox()
  await using receiver = await startReceiver(inbox.answering())
  await using gateway = await startProcessGateway({ ROUSE_LOG_LEVEL: 'silent' }, { dataDir: room.dataDir })
  const donna = await gateway.addAgent('@donna')
  const lola = await gateway.addAgent('@lola')
  const watches = [
    await watch(gateway, donna, receiver.url, '@donna tasks'),
    await watch(gateway, donna, receiver.url, '@donna tasks, window 1 s', {
      metadata: { coalesceWindow: 1, coalesceMode: 'window' },
    }),
    await watch(gateway, lola, receiver.url, '@lola tasks'),
  ]
  const load = new Load(gateway, { senders: [{ from: lola, to: donna }, { to: donna }], pauseMs: 20, harness: donna })
  inbox.onWake = load.onWake
  await until(
    () => load.acceptedCount,
    (count) => count >= 50,
  )

  room.fill(gateway)
  const pid = gateway.pid
  const refusal = await untilRefused(gateway)
  const [known] = load.acknowledged.keys()
  expect(await gateway.call('GET', `/v1/tasks/${known}`)).toMatchObject({ status: 200 })
  const before = load.acceptedCount
  await new Promise((resolve) => setTimeout(resolve, fullMs))
  expect((await gateway.call('GET', '/healthz')).status).toBe(200)
  const accepted = load.acceptedCount - before
  const diedThen = room.outlivesProcess ? await dieAndStartWithoutRoom(gateway) : 'went on'
  room.free(gateway)
  if (diedThen === 'refused to start') await gateway.restart()
  else if (!room.outlivesProcess) expect(gateway.pid).toBe(pid)

  const roomyAt = load.acceptedCount
  await until(
    () => load.acceptedCount,
    (count) => count >= roomyAt + 50,
    60_000,
  )
  await load.stop()
  const notes = [
    `refused with ${refusal}; ${accepted} messages fitted in while it was full; killed while full, it ${diedThen}`,
    `${load.acceptedCount} messages accepted`,
    tell(load.trouble),
  ]
  await balance(`no room: ${name}`, { client: gateway, inbox, watches }, notes)
  expect(load.contradictions).toEqual([])
  expect(await forgotten(gateway, load.acknowledged)).toEqual([])
})

/** A write is refused with what a client needs to try again. */
async function untilRefused(client: ProcessClient): Promise<string> {
  let count = 0
  const refusal = await until(
    () => client.call('POST', '/v1/agents', { handle: `@filler${++count}`, description: 'x'.repeat(500) }),
    ({ status }) => status !== 201,
    20_000,
  )
  expect(refusal).toMatchObject({ status: 503, body: { code: 'storage-unavailable' } })
  const message = { messageId: 'full', role: 'ROLE_USER', parts: [{ text: 'full' }] }
  const peer = await client.call('POST', '/agents/donna/message:send', {
    message,
    configuration: { returnImmediately: true },
  })
  const retryAfter = refusal.headers.get('retry-after')
  expect(Number(retryAfter)).toBeGreaterThan(0)
  expect([peer.status, peer.headers.get('retry-after')]).toEqual([503, retryAfter])
  return `503 ${refusal.body.code}, Retry-After: ${retryAfter}; a peer over HTTP+JSON with ${peer.status}, Retry-After: ${peer.headers.get('retry-after')}`
}

async function dieAndStartWithoutRoom(gateway: Awaited<ReturnType<typeof startProcessGateway>>): Promise<string> {
  await gateway.kill('SIGKILL')
  return gateway.restart().then(
    () => 'started again',
    (error: Error) => {
      expect(error.message).not.toContain('    at ')
      return 'refused to start'
    },
  )
}
