import { expect, test } from 'vitest'
import { type ProcessGateway, startProcessGateway } from '../support/process-gateway.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { servedMs } from '../support/served-time.ts'
import { until } from '../support/until.ts'

const stopMaxMs = 5_000
/** Well below the five seconds for which a server keeps an idle connection. */
const idleStopMaxMs = 3_000

test.each(['SIGTERM', 'SIGINT'] as const)('%s with open streams and a waiting client ends with 0', async (signal) => {
  await using gateway = await startProcessGateway()
  const donna = await gateway.addAgent('@donna')
  const task = await gateway.send(donna, 'long work')
  const streams = [
    await openStream(gateway, 'GET', '/v1/events?since=0'),
    await openStream(gateway, 'POST', '/agents/donna', rpc('SubscribeToTask', { id: task.id })),
  ]
  const waiting = gateway.send(donna, 'waited for', {})
  await until(
    async () => (await gateway.call('GET', '/v1/tasks')).body.totalSize,
    (size) => size === 2,
  )

  const { exit, durationMs } = await stop(gateway, signal)
  expect(exit).toMatchObject({ code: 0, signal: null })
  expect(durationMs).toBeLessThan(idleStopMaxMs)
  expect(await waiting).toMatchObject({ status: { state: 'TASK_STATE_SUBMITTED' } })
  // Ended by the server, not cut: a cut stream rejects.
  for (const { whole } of streams) expect(await whole).toContain('data:')

  await gateway.restart()
  const { body } = await gateway.call('GET', '/v1/tasks')
  expect(body.tasks.map(({ id }: { id: string }) => id).sort()).toEqual([task.id, (await waiting).id].sort())
})

test('SIGTERM lets a wake in flight finish, and later wakes arrive after the restart', async () => {
  await using gateway = await startProcessGateway()
  await using receiver = await startReceiver(() => {})
  const donna = await gateway.addAgent('@donna')
  await gateway.subscribe(donna, receiver.url)
  const answer = answerLater(receiver)
  const tasks = []
  for (const text of ['one', 'two', 'three']) tasks.push(await gateway.send(donna, text))
  await receiver.waitFor(1)

  gateway.signal('SIGTERM')
  await untilRefused(gateway)
  answer()
  expect(await gateway.exited).toMatchObject({ code: 0 })
  receiver.respond(200)
  await gateway.restart()

  const wakes = await receiver.waitFor(3)
  expect(wakes.map(({ body }) => body.payload.taskId)).toEqual(tasks.map(({ id }) => id))
})

test('a receiver that needs three seconds gets its wake once across a stop', async () => {
  await using gateway = await startProcessGateway()
  await using receiver = await startReceiver((_wake, res) => void setTimeout(() => res.end(), 3_000))
  const donna = await gateway.addAgent('@donna')
  const { id } = await gateway.subscribe(donna, receiver.url)
  await gateway.send(donna, 'one')
  await receiver.waitFor(1)
  expect((await stop(gateway, 'SIGTERM')).exit).toMatchObject({ code: 0 })
  await gateway.restart()

  receiver.respond(200)
  await gateway.send(donna, 'two')
  await receiver.waitFor(2)
  const deliveries = await until(
    async () => (await gateway.call('GET', `/v1/wake-subscriptions/${id}/deliveries`)).body.deliveries,
    (found) => found.length === 2 && found[0].outcome === 'delivered',
  )
  expect(deliveries).toMatchObject([{ attempts: [{ status: 200 }] }, { attempts: [{ status: 200 }] }])
  expect(receiver.wakes).toHaveLength(2)
})

test('a second signal ends it at once, whatever is in flight', async () => {
  await using gateway = await startProcessGateway()
  await using receiver = await startReceiver(() => {})
  const donna = await gateway.addAgent('@donna')
  await gateway.subscribe(donna, receiver.url)
  await gateway.send(donna, 'one')
  await receiver.waitFor(1)
  gateway.signal('SIGTERM')
  await untilRefused(gateway)
  gateway.signal('SIGTERM')
  expect(await gateway.exited).toMatchObject({ code: 143 })
})

test('SIGTERM gives a receiver that never answers the time of one attempt', async () => {
  await using gateway = await startProcessGateway({ ROUSE_WEBHOOK_TIMEOUT: '2' })
  await using receiver = await startReceiver(() => {})
  const donna = await gateway.addAgent('@donna')
  const { id } = await gateway.subscribe(donna, receiver.url)
  await gateway.send(donna, 'one')
  const [unanswered] = await receiver.waitFor(1)

  const { exit, durationMs } = await stop(gateway, 'SIGTERM')
  expect(exit).toMatchObject({ code: 0 })
  expect(durationMs).toBeLessThan(stopMaxMs)
  receiver.respond(200)
  await gateway.restart()

  expect((await receiver.waitFor(2))[1]!.body.eventId).toBe(unanswered!.body.eventId)
  const deliveries = await until(
    async () => (await gateway.call('GET', `/v1/wake-subscriptions/${id}/deliveries`)).body.deliveries,
    (found) => found[0]?.outcome === 'delivered',
  )
  // Being stopped is no evidence against the receiver.
  expect(deliveries).toMatchObject([{ attempts: [{ status: 200 }] }])
})

async function stop(gateway: ProcessGateway, signal: NodeJS.Signals) {
  const startedAt = servedMs()
  const exit = await gateway.kill(signal)
  return { exit, durationMs: servedMs() - startedAt }
}

/** Resolves with the promise of everything that the stream says until it ends, once it has begun. */
async function openStream(gateway: ProcessGateway, method: string, path: string, body?: object) {
  const response = await fetch(gateway.url + path, {
    method,
    headers: {
      authorization: `Bearer ${gateway.adminKey}`,
      accept: 'text/event-stream',
      'content-type': 'application/json',
      'A2A-Version': '1.0',
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  const whole = response.text()
  whole.catch(() => {}) // looked at later
  return { whole }
}

function rpc(method: string, params: object): object {
  return { jsonrpc: '2.0', id: 1, method, params }
}

/** Holds the answers back until the returned function is called. */
function answerLater(receiver: Receiver): () => void {
  const held: (() => void)[] = []
  receiver.respond((_wake, res) => void held.push(() => res.end()))
  return () => {
    for (const answer of held) answer()
  }
}

/** The gateway has begun to stop when it takes no more connections. */
async function untilRefused(gateway: ProcessGateway): Promise<void> {
  await until(
    () =>
      fetch(`${gateway.url}/healthz`, { headers: { connection: 'close' } }).then(
        () => false,
        () => true,
      ),
    (refused) => refused,
  )
}
