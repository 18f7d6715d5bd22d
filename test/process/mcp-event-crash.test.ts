import { expect, test } from 'vitest'
import { eventsEnv, secret, startCallback } from '../fronts/mcp/events/rpc.ts'
import { startProcessGateway } from '../support/process-gateway.ts'
import { until } from '../support/until.ts'

const count = 10

test('kill -9 between an event, its request and its record: nothing is lost, and what comes twice has the same id', async () => {
  await using gateway = await startProcessGateway(eventsEnv)
  await using callback = await startCallback()
  const donna = await gateway.addAgent('@donna')
  const lola = await gateway.addAgent('@lola')
  const body = { name: 'mail.received', url: callback.url, secret }
  expect(await gateway.call('POST', '/v1/event-subscriptions', body, { key: donna.key })).toMatchObject({ status: 200 })
  callback.respond(0)
  for (let i = 1; i <= count; i++) {
    const mail = { to: '@donna', subject: `mail ${i}`, body: 'text' }
    await gateway.call('POST', '/v1/messages', mail, { key: lola.key })
  }
  await until(
    () => callback.events.length,
    (n) => n >= 1,
  )
  expect(await gateway.kill('SIGKILL')).toMatchObject({ signal: 'SIGKILL' })
  const before = callback.events.map(({ eventId }) => eventId)
  callback.respond(204)
  await gateway.restart()
  const subjects = (): string[] => [...new Set(callback.events.map(({ data }) => data.subject as string))]
  await until(subjects, (all) => all.length === count)
  const ids = new Set(callback.events.map(({ eventId }) => eventId))
  expect(ids.size).toBe(count)
  expect(before.every((id) => ids.has(id))).toBe(true)
  for (const { headers, body: event } of callback.heard.filter(({ body: { type } }) => type === undefined))
    expect(headers['webhook-id']).toBe(event.eventId)
})
