import { mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import type { OutgoingWake } from '../../../src/bridge/adapter.ts'
import { BridgeAttachment } from '../../../src/bridge/local/attach-to-bridge.ts'
import type { LocalServer } from '../../../src/bridge/local/clients.ts'
import { localLimits } from '../../../src/bridge/local/protocol.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { until } from '../../support/until.ts'
import { type Desk, makeDesk, wakeOf } from './desk.ts'

function attach(desk: Desk, take: (wake: OutgoingWake) => void | Promise<void> = () => {}) {
  const stopping = new AbortController()
  const attachment = new BridgeAttachment({
    env: desk.env,
    client: { harness: 'claude', conversationId: 'c1', route: 'monitor' },
    take,
    signal: stopping.signal,
  })
  return {
    attachment,
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await attachment.ended
    },
  }
}

const clientOf = async (server: LocalServer) =>
  (
    await until(
      () => server.attached('claude'),
      (clients) => clients.length === 1,
    )
  )[0]!

test('a client finds a bridge that starts later, and the next one, with what it has said meanwhile', async () => {
  using desk = makeDesk()
  await using client = attach(desk)
  client.attachment.change({ conversationId: 'c2', state: 'idle' })
  const first = await desk.open()
  expect(await clientOf(first)).toMatchObject({ conversationId: 'c2', state: 'idle' })
  await first[Symbol.asyncDispose]()
  await until(
    () => client.attachment.isAttached,
    (is) => !is,
  )
  client.attachment.change({ state: 'active', activeTurnId: 't1' })
  await using second = await desk.open()
  expect(await clientOf(second)).toMatchObject({ conversationId: 'c2', state: 'active', activeTurnId: 't1' })
})

test('what changes before the bridge has answered is said after the attach', async () => {
  using desk = makeDesk()
  mkdirSync(dirname(desk.socketPath), { recursive: true, mode: 0o700 })
  let read = ''
  const slow = createServer((socket) => socket.setEncoding('utf8').on('data', (text) => (read += text)))
  await new Promise<void>((listening) => slow.listen(desk.socketPath, listening))
  {
    await using client = attach(desk)
    await until(
      () => read,
      (text) => text.includes('"attach"'),
    )
    client.attachment.change({ state: 'active' })
    client.attachment.report({ wakeId: wakeOf().id, step: 'seen', proof: 'test' })
    await until(
      () => read,
      (text) => text.includes('"report"'),
    )
  }
  await new Promise((closed) => slow.close(closed))
  const said = read
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(said).toMatchObject([
    { type: 'attach' },
    { type: 'change', state: 'active' },
    { type: 'report', step: 'seen' },
  ])
})

test('a wake is taken once, also where another bridge sends it again', async () => {
  using desk = makeDesk()
  const taken: string[] = []
  await using _client = attach(desk, ({ id }) => void taken.push(id))
  const wake = wakeOf()
  const first = await desk.open()
  await (await clientOf(first)).send(wake)
  await first[Symbol.asyncDispose]()
  await using second = await desk.open()
  await (await clientOf(second)).send(wake)
  expect(taken).toEqual([wake.id])
})

test('a wake that could not be taken is declined with the reason, and may come again', async () => {
  using desk = makeDesk()
  let isBroken = true
  await using _client = attach(desk, () => {
    if (isBroken) throw new Error('standard output is closed')
  })
  await using server = await desk.open()
  const client = await clientOf(server)
  const wake = wakeOf()
  await expect(client.send(wake)).rejects.toThrow('standard output is closed')
  isBroken = false
  await client.send(wake)
})

test('it answers a bridge that asks whether it lives, and tells it what became of a wake', async () => {
  using desk = makeDesk()
  const clock = new FakeClock()
  await using client = attach(desk)
  await using server = await desk.open({ clock })
  await clientOf(server)
  const wake = wakeOf()
  for (let n = 0; n < 5; n++) {
    clock.advance(localLimits.pingMs)
    // Its answer is read before its later lines.
    const { id } = wakeOf()
    client.attachment.report({ wakeId: id, step: 'seen', proof: 'test' })
    await server.reported(id, () => true, AbortSignal.timeout(10_000))
  }
  client.attachment.report({ wakeId: wake.id, step: 'delivered', proof: 'assistant.turn_start' })
  const report = await server.reported(wake.id, () => true, AbortSignal.timeout(10_000))
  expect(report).toEqual({ wakeId: wake.id, step: 'delivered', proof: 'assistant.turn_start' })
  expect(server.attached('claude')).toHaveLength(1)
})
