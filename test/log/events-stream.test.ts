import { request } from 'node:http'
import { expect, test } from 'vitest'
import { openEventStream } from '../support/event-stream.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'

const open = (gateway: TestGateway, query = '', headers: Record<string, string> = {}, key = gateway.adminKey) =>
  openEventStream(`${gateway.url}/v1/events${query}`, { authorization: `Bearer ${key}`, ...headers })
const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i)

test('a stream continues from a watermark, then live, and resumes by Last-Event-ID', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('a')
  await gateway.addAgent('b')
  await using first = await open(gateway, '?since=1')
  expect(first.contentType).toBe('text/event-stream')
  expect(await first.take(1)).toMatchObject([{ id: '2', event: 'agent.created', data: { logId: 2 } }])
  await gateway.addAgent('c')
  expect(await first.take(1)).toMatchObject([{ id: '3', data: { data: { agent: '@c' } } }])
  await gateway.addAgent('d')
  await using second = await open(gateway, '?since=0', { 'last-event-id': '2' })
  expect((await second.take(2)).map(({ id }) => id)).toEqual(['3', '4'])
})

test('a stream without a watermark starts at the end', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('a')
  await using stream = await open(gateway)
  await gateway.addAgent('b')
  expect((await stream.take(1))[0]).toMatchObject({ id: '2' })
})

test('a Last-Event-ID that is no logId is refused', async () => {
  await using gateway = await startGateway()
  const headers = { accept: 'text/event-stream', 'last-event-id': 'abc' }
  const { status, body } = await gateway.call('GET', '/v1/events', undefined, { headers })
  expect([status, body.field]).toEqual([400, 'Last-Event-ID'])
})

test('500 events written at once reach a stream, and one that resumes in the middle, each once and in order', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('donna')
  await using live = await open(gateway, '?since=1')
  const sending = Promise.all(range(1, 250).map((n) => gateway.send('donna', `message ${n}`)))
  const firstHalf = await live.take(200)
  await using resumed = await open(gateway, '', { 'last-event-id': firstHalf.at(-1)!.id })
  const [rest, again] = await Promise.all([live.take(300), resumed.take(300), sending])
  const ids = [...firstHalf, ...rest].map(({ data }) => data.logId)
  expect(ids).toEqual(range(2, 501))
  expect(again.map(({ id }) => id)).toEqual(rest.map(({ id }) => id))
})

test("an agent's stream carries its own events alone", async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await gateway.addAgent('mike')
  await using stream = await open(gateway, '', {}, donna.key)
  await gateway.send('mike', 'not for donna')
  await gateway.send('donna', 'for donna')
  const [mail, state] = await stream.take(2)
  expect(mail).toMatchObject({ event: 'message.sent', data: { data: { subject: 'for donna' } } })
  expect(state).toMatchObject({ event: 'task.state_changed' })
})

test('a reader that never reads delays no other reader', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('donna')
  const stuck = await openUnread(gateway)
  await using live = await open(gateway, '?since=1')
  const concepts = Array.from({ length: 100 }, (_, i) => `${i}-${'x'.repeat(190)}`)
  const metadata = { taggedConcepts: concepts }
  await Promise.all(range(1, 100).map((n) => gateway.send('donna', `message ${n}`, { message: { metadata } })))
  expect((await live.take(200)).at(-1)).toMatchObject({ id: '201' })
  expect((await gateway.call('GET', '/v1/events?since=200')).status).toBe(200)
  stuck.destroy()
})

test('streams end when the gateway stops', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('a')
  await using stream = await open(gateway, '?since=0')
  expect(await stream.take(1)).toHaveLength(1)
  const rest = stream.take(1)
  await gateway.stop()
  expect(await rest).toEqual([])
})

/** A connection whose answer is not read: the buffers of the sockets fill, then the gateway must wait. */
function openUnread(gateway: TestGateway): Promise<{ destroy(): void }> {
  const headers = { authorization: `Bearer ${gateway.adminKey}`, accept: 'text/event-stream' }
  return new Promise((resolve) => {
    const req = request(`${gateway.url}/v1/events?since=0`, { headers }, (res) => {
      res.pause()
      resolve(req)
    })
    req.on('error', () => {})
    req.end()
  })
}
