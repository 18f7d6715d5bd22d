import { expect, test } from 'vitest'
import { beginSession, openStream, ping, post } from '../fronts/mcp/http/wire.ts'
import { until } from '../support/until.ts'
import { untilStatus } from '../wakes/acts.ts'
import { startTwo } from './two-gateways.ts'

const negotiated = { capabilities: { experimental: { 'neo-wake-substrate': { version: '1.0' } } } }
const wakes = {
  trigger: 'SENT_TO_ME',
  harnessTarget: 'mcp-notifications',
  harnessTargetMetadata: { coalesceWindow: 0 },
}

test('a session is served by any gateway, and its stream goes on at another where it was', async () => {
  await using two = await startTwo()
  const { a, b } = two
  const donna = await a.addAgent('donna')
  const { body } = await b.call('POST', '/v1/wake-subscriptions', wakes, { key: donna.key })
  const session = await beginSession(a, donna, negotiated)
  expect((await post(b, donna, ping, session)).status).toBe(200)
  const uri = 'rouse://inbox/@donna'
  await post(b, donna, { ...ping, method: 'resources/subscribe', params: { uri } }, session)
  const onA = await openStream(a, donna, session)
  await untilStatus(b, donna, body.subscriptionId, 'active')
  await b.send('donna', 'one')
  const heard = (reader: typeof onA, method: string) => reader.notifications.filter((one) => one.method === method)
  await until(
    () => heard(onA, 'notifications/message').length * heard(onA, 'notifications/resources/updated').length,
    (both) => both > 0,
  )
  const { lastId } = onA
  await onA[Symbol.asyncDispose]()
  await a.send('donna', 'two')
  await using onB = await openStream(b, donna, { ...session, 'last-event-id': lastId })
  await until(
    () => [heard(onB, 'notifications/message').length, heard(onB, 'notifications/resources/updated').length],
    ([messages = 0, updates = 0]) => messages > 0 && updates > 0,
  )
  expect(heard(onB, 'notifications/message')).toHaveLength(1)
})

test('a session ends on every gateway: with DELETE, with a newer stream, with its key', async () => {
  await using two = await startTwo()
  const { a, b } = two
  const donna = await a.addAgent('donna')
  const session = await beginSession(a, donna)
  await using onA = await openStream(a, donna, session)
  await using onB = await openStream(b, donna, session)
  const untilEnd = (reader: typeof onA) =>
    until(
      () => reader.hasEnded,
      (ended) => ended,
      1_000,
    )
  await untilEnd(onA)
  expect((await a.call('DELETE', '/mcp', undefined, { key: donna.key, headers: session })).status).toBe(200)
  await untilEnd(onB)
  const { body: key } = await a.call('POST', '/v1/agents/donna/keys', {})
  const other = { handle: 'donna', key: key.apiKey }
  await using third = await openStream(b, donna, await beginSession(a, other))
  expect(third.status).toBe(200)
  await a.call('DELETE', `/v1/agents/donna/keys/${key.keyId}`)
  await untilEnd(third)
})
