import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SendMessageRequest } from '@a2a-js/sdk'
import { expect, test } from 'vitest'
import { sending } from '../a2a/wire.ts'
import { run, start } from '../cli/terminal.ts'
import { bearer, rawClient } from '../grpc/raw-client.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { readWakes } from '../support/wake-reader.ts'

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
const other = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b8-01'

test.each([
  ['A2A over JSON-RPC', sendByRpc],
  ['A2A over gRPC', sendByGrpc],
  ['mail', sendMail],
])(
  'the trace of %s is continued by the wake, also when it is tried again, and the log does not show it',
  async (_, send) => {
    await using gateway = await startGateway()
    await using receiver = await startReceiver((_wake, res, nth) => res.writeHead(nth === 1 ? 503 : 200).end())
    const donna = await gateway.addAgent('donna')
    const mike = await gateway.addAgent('mike')
    await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
    await send(gateway, mike, { traceparent })
    const wakes = await receiver.waitFor(2)
    expect(wakes.map(({ headers }) => headers.traceparent)).toEqual([traceparent, traceparent])
    const { body } = await gateway.call('GET', '/v1/events')
    expect(body.events.length).toBeGreaterThan(1)
    expect(JSON.stringify(body)).not.toContain('4bf92f')
  },
)

test('what is no traceparent is as if there were none', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  await sendByRpc(gateway, mike, { traceparent: `${traceparent}-evil` })
  await sendMail(gateway, mike, { traceparent: '"; rm -rf /' })
  const wakes = await receiver.waitFor(2)
  expect(wakes.map(({ headers }) => headers.traceparent)).toEqual([undefined, undefined])
})

test('a digest has the trace that all of its events share, and none where they have several', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  const harnessTargetMetadata = { coalesceWindow: 0.3, coalesceMode: 'window' }
  await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME', harnessTargetMetadata })
  for (const _ of [1, 2]) await sendMail(gateway, mike, { traceparent })
  await receiver.waitFor(1)
  await sendMail(gateway, mike, { traceparent })
  await sendMail(gateway, mike, { traceparent: other })
  const wakes = await receiver.waitFor(2)
  expect(wakes.map(({ body, headers }) => [body.eventType, headers.traceparent])).toEqual([
    ['wake/digest', traceparent],
    ['wake/digest', undefined],
  ])
})

test('a task that is moved wakes its originator in the trace of the move', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  await gateway.subscribe(mike, receiver.url)
  const { id } = await gateway.send('donna', 'hello', { key: mike.key, headers: { traceparent } })
  const { body: task } = await gateway.call('GET', `/v1/tasks/${id}`, undefined, donna)
  const move = { to: 'working', expectedVersion: task.version }
  const moved = await gateway.call('POST', `/v1/tasks/${id}/transitions`, move, {
    ...donna,
    headers: { traceparent: other },
  })
  expect(moved, JSON.stringify(moved.body)).toMatchObject({ status: 200 })
  expect((await receiver.waitFor(1))[0]!.headers.traceparent).toBe(other)
})

test('over delegation: the command that a wake starts continues its trace, and so does what it sends', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  using directory = dataDirectory()
  const [donna, mike, lucy] = [
    await gateway.addAgent('donna'),
    await gateway.addAgent('mike'),
    await gateway.addAgent('lucy'),
  ] as const
  await gateway.subscribe(lucy, receiver.url, { trigger: 'SENT_TO_ME' })
  const file = join(directory.path, 'trace')
  const env = { PATH: process.env.PATH, ROUSE_URL: gateway.url, ROUSE_KEY: donna.key }
  const listening = start(['listen', '--exec', `printf %s "$TRACEPARENT" > ${file}; echo done`], env)
  await listening.until(/Listening to/)
  await sendMail(gateway, mike, { traceparent })
  await listening.until(/done/)
  listening.interrupt()
  await listening.code
  const TRACEPARENT = readFileSync(file, 'utf8')
  expect(TRACEPARENT).toBe(traceparent)
  await run(['mail', '@lucy', 'please look'], { ...env, TRACEPARENT })
  expect((await receiver.waitFor(1))[0]!.headers.traceparent).toBe(traceparent)
})

test('a wake on a stream has it among the fields that sign it', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  const input = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon' }
  const { body } = await gateway.call('POST', '/v1/wake-subscriptions', input, donna)
  await using reader = await readWakes(gateway, donna, [body.subscriptionId])
  await sendMail(gateway, mike, { traceparent })
  const [wake] = await until(
    () => reader.wakes,
    ({ length }) => length === 1,
  )
  expect(wake!.fields.traceparent).toBe(traceparent)
})

type Headers = Record<string, string>

async function sendByRpc(gateway: TestGateway, { key }: TestAgent, headers: Headers): Promise<void> {
  await gateway.send('donna', 'hello', { key, headers })
}

async function sendByGrpc(gateway: TestGateway, { key }: TestAgent, headers: Headers): Promise<void> {
  using client = rawClient(gateway.grpcTarget)
  const request = SendMessageRequest.fromJSON({ tenant: 'agents/donna', ...sending({}) })
  await client.unary('sendMessage', request, bearer(key, headers))
}

async function sendMail(gateway: TestGateway, { key }: TestAgent, headers: Headers): Promise<void> {
  const { status } = await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'hello' }, { key, headers })
  if (status !== 201) throw new Error(`sendMail: ${status}`)
}
