import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { deliveriesOf, stateOf, untilStatus } from '../wakes/acts.ts'

/** Streams its turn as the answer, for longer than anybody waits. */
function streamTurn(status: number) {
  return (_: unknown, res: ServerResponse): void => {
    res.writeHead(status, { 'content-type': 'text/event-stream' })
    const turn = setInterval(() => res.write('data: x\n\n'), 20)
    res.on('close', () => clearInterval(turn))
  }
}

// D47
test.each<[string, (wake: unknown, res: ServerResponse) => void]>([
  ['streams its turn as the answer', streamTurn(200)],
  ['has a late body', (_, res) => void res.writeHead(200, { 'content-length': 2 }).flushHeaders()],
  ['says 204 with a length', (_, res) => void res.writeHead(204, { 'content-length': 2 }).end('ok')],
  ['hangs up in its body', (_, res) => void res.writeHead(202).write('half', () => res.destroy())],
])('a receiver that says 2xx and %s has the wake, once', async (_, answer) => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver(answer)
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url)
  await gateway.send('donna', 'a turn')
  const [delivery] = await until(
    () => deliveriesOf(gateway, donna, id),
    ([first]) => first?.outcome === 'delivered',
  )
  expect(delivery.attempts).toMatchObject([{ error: null }])
  await gateway.send('donna', 'the next')
  await receiver.waitFor(2)
  expect(new Set(receiver.wakes.map(({ body }) => body.eventId)).size).toBe(2)
})

test('a status of 4xx degrades, and one of 5xx is tried again, before their bodies end', async () => {
  await using gateway = await startGateway()
  await using refusing = await startReceiver(streamTurn(401))
  await using failing = await startReceiver(streamTurn(503))
  const donna = await gateway.addAgent('donna')
  const refused = await gateway.subscribe(donna, refusing.url)
  const failed = await gateway.subscribe(donna, failing.url)
  await gateway.send('donna', 'to both')
  await untilStatus(gateway, donna, refused.id, 'degraded')
  expect(await stateOf(gateway, donna, refused.id)).toMatchObject({ reason: 'http-401' })
  const [delivery] = await until(
    () => deliveriesOf(gateway, donna, failed.id),
    ([first]) => first?.attempts.length > 0,
  )
  expect(delivery.attempts[0]).toMatchObject({
    status: 503,
    error: null,
    detail: 'the body of the answer did not end, and was cut',
  })
})

test('what is no answer is named where the owner reads it', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver((_, res) => {
    res.socket!.end('220 mail.test ESMTP\r\n')
  })
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url)
  await gateway.send('donna', 'hello')
  const [delivery] = await until(
    () => deliveriesOf(gateway, donna, id),
    ([first]) => first?.attempts.length > 0,
  )
  expect(delivery.attempts[0]).toMatchObject({
    status: null,
    error: 'no-http',
    detail: 'the answer is not HTTP',
  })
})
