import { SubscribeToTaskRequest } from '@a2a-js/sdk'
import { expect, test } from 'vitest'
import { bearer, rawClient } from '../grpc/raw-client.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { type Answer, startGateway } from '../support/gateway.ts'
import { halfSent } from '../support/half-sent.ts'
import { advanceUntil } from '../wakes/acts.ts'

test('a gRPC call that stays open holds room for its message alone: an agent opens as many streams as it may, and sends on', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  const { id } = await gateway.send('donna', 'long work', { key: lola.key })
  using client = rawClient(gateway.grpcTarget)
  const request = SubscribeToTaskRequest.fromJSON({ tenant: 'agents/donna', id })
  const streams = Array.from({ length: 40 }, () => client.stream('subscribeToTask', request, bearer(lola.key)))
  const opened = streams.map(
    (stream) =>
      new Promise((resolve, reject) => {
        stream.once('data', resolve)
        stream.on('error', reject)
      }),
  )
  await Promise.all(opened)
  expect((await gateway.send('donna', 'x'.repeat(900_000), { key: lola.key })).id).toBeDefined()
  for (const stream of streams) stream.on('error', () => {}).cancel()
})

test('agents of a project whose bodies never end make each other wait, and nobody else', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await gateway.call('POST', '/v1/projects', { project: 'red' })
  const donna = await gateway.addAgent('donna')
  const red = await Promise.all(Array.from({ length: 9 }, (_, n) => gateway.addAgent(`red-${n}`, { project: 'red' })))
  const { key } = red.pop()!
  const mail = { to: ['@red-0'], body: 'x'.repeat(2 ** 20 - 100) }
  const open = await Promise.all(
    red.flatMap(({ key }) => Array.from({ length: 8 }, () => halfSent(gateway, '/v1/messages', key, mail))),
  )
  expect((await gateway.send('donna', 'x'.repeat(900_000), { key: donna.key })).id).toBeDefined()
  let answer: Answer | undefined
  const waits = gateway.call('POST', '/v1/messages', mail, { key }).then((given) => (answer = given))
  await advanceUntil(
    clock,
    1_000,
    () => answer,
    (given) => given !== undefined,
  )
  const detail = expect.stringContaining('Project red')
  expect(await waits).toMatchObject({ status: 429, body: { limitName: 'bytesInFlight', detail } })
  for (const { socket } of open) socket.destroy()
})
