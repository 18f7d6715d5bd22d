import { expect, test } from 'vitest'
import { eventsEnv, secret, startCallback } from '../fronts/mcp/events/rpc.ts'
import { until } from '../support/until.ts'
import { startTwo } from './two-gateways.ts'

test('two gateways send each event once; either refreshes, and either ends', async () => {
  await using two = await startTwo(eventsEnv)
  const { a, b } = two
  const key = a.adminKey
  const donna = (await a.call('POST', '/v1/agents', { handle: 'donna' }, { key })).body.apiKey as string
  const lola = (await a.call('POST', '/v1/agents', { handle: 'lola' }, { key })).body.apiKey as string
  await using callback = await startCallback()
  const choice = { name: 'mail.received', url: callback.url }
  const made = await a.call('POST', '/v1/event-subscriptions', { ...choice, secret }, { key: donna })
  const again = await b.call('POST', '/v1/event-subscriptions', { ...choice, secret }, { key: donna })
  expect([made.status, again.body.id]).toEqual([200, made.body.id])
  const send = (n: number) =>
    (n % 2 ? a : b).call('POST', '/v1/messages', { to: 'donna', subject: `mail ${n}`, body: 'text' }, { key: lola })
  await Promise.all(Array.from({ length: 20 }, (_, n) => send(n)))
  await until(
    () => callback.events.length,
    (n) => n >= 20,
  )
  await b.call('POST', '/v1/event-subscriptions/end', choice, { key: donna })
  await send(21)
  expect(new Set(callback.events.map(({ eventId }) => eventId)).size).toBe(20)
  expect(callback.events).toHaveLength(20)
  expect(callback.heard.filter(({ body }) => body.type === 'verification')).toHaveLength(1)
})
