import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestAgent, TestGateway } from '../../../support/gateway.ts'
import { startGateway } from '../../../support/gateway.ts'
import { until } from '../../../support/until.ts'
import { startAiProgram } from './ai-sdk.ts'

const env = { ROUSE_WEBHOOK_ALLOW: '127.0.0.0/8', ROUSE_MCP_EVENTS_ALLOW_HTTP: 'loopback' }
let gateway: TestGateway
let lola: TestAgent
let count = 0
beforeAll(async () => {
  gateway = await startGateway({ env })
  lola = await gateway.addAgent('@lola')
})
afterAll(() => gateway?.[Symbol.asyncDispose]())

const newAgent = (): Promise<TestAgent> => gateway.addAgent(`@hosted-${++count}`)
const mail = (to: TestAgent, subject: string) =>
  gateway.call('POST', '/v1/messages', { to: to.handle, subject, body: 'the whole text' }, { key: lola.key })

describe.each(['modern', 'sessions'] as const)('the unmodified AI SDK, %s', (era) => {
  test('lists, subscribes, is challenged, receives, refreshes, resumes and unsubscribes', async () => {
    const donna = await newAgent()
    await using program = await startAiProgram(gateway, donna, era)
    const { events: types } = await program.api.list()
    expect(types.map(({ name }) => name)).toContain('mail.received')
    const subscribed = await program.subscribe('mail.received')
    expect(program.heard.map(({ body, status }) => [body.type, status])).toEqual([['verification', 200]])
    expect((await mail(donna, 'Look at this')).status).toBe(201)
    await program.has(1)
    const [event] = program.events
    expect(event).toMatchObject({ name: 'mail.received', data: { from: '@lola', subject: 'Look at this' } })
    expect(JSON.stringify(event)).not.toContain('the whole text')
    const posted = program.heard.at(-1)!
    expect(posted.headers['webhook-id']).toBe(event!.eventId)
    const key = [...program.store.rows.keys()][0]!
    const refreshed = await program.api.refresh({ key })
    expect(refreshed.id).toBe(subscribed.id)
    // A second challenge is not sent within a day.
    expect(program.heard.filter(({ body }) => body.type === 'verification')).toHaveLength(1)
    await program.api.unsubscribe({ key })
    expect(program.store.rows.size).toBe(0)
    await mail(donna, 'Nobody hears this')
    const list = await gateway.call('GET', '/v1/wake-subscriptions', undefined, { key: donna.key })
    expect(list.body.subscriptions).toEqual([])
  })
})

describe('with the AI SDK', () => {
  test('an event comes after retries once, under one id and with signatures of their own', async () => {
    const donna = await newAgent()
    await using program = await startAiProgram(gateway, donna)
    await program.subscribe('mail.received')
    program.answerWith((_, nth) => (nth <= 3 ? { status: 503 } : undefined))
    await mail(donna, 'Try again')
    await program.has(1)
    const posts = program.heard.filter(({ body }) => body.type === undefined)
    expect(posts.map(({ status }) => status)).toEqual([503, 503, 204])
    expect(new Set(posts.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(new Set(posts.map(({ raw }) => raw)).size).toBe(1)
    expect(program.events).toHaveLength(1)
  })

  test.each([410, 413])('%d ends one event, and never the subscription', async (status) => {
    const donna = await newAgent()
    await using program = await startAiProgram(gateway, donna)
    await program.subscribe('mail.received')
    let answered = 0
    program.answerWith(() => (answered++ === 0 ? { status } : undefined))
    await mail(donna, 'one')
    await until(
      () => answered,
      (n) => n > 0,
    )
    await mail(donna, 'two')
    await program.has(1)
    expect(program.events[0]).toMatchObject({ data: { subject: 'two' } })
    const [key] = program.store.rows.keys()
    const { body } = await gateway.call('GET', '/v1/wake-subscriptions', undefined, { key: donna.key })
    expect(body.subscriptions[0]).toMatchObject({ status: 'active', failedInARow: 0 })
    // An event that was given up is said by one message, and by the next refresh.
    await until(
      () => program.heard.filter(({ body }) => body.type === 'gap').map((one) => one.status),
      (statuses) => statuses.length === 1 && statuses[0] === 204,
    )
    expect(program.store.rows.get(key!)).toMatchObject({ truncated: true, cursor: expect.any(String) })
    expect(await program.api.refresh({ key: key! })).toMatchObject({ truncated: true })
    expect(await program.api.refresh({ key: key! })).toMatchObject({ truncated: false })
  })

  test('a changed secret signs at once, and the former one for a while', async () => {
    const donna = await newAgent()
    await using program = await startAiProgram(gateway, donna)
    await program.subscribe('mail.received')
    const [key] = program.store.rows.keys()
    const row = program.store.rows.get(key!)!
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
    const former = row.delivery.secret
    await program.store.update(key!, { delivery: { ...row.delivery, secret } })
    await program.api.refresh({ key: key! })
    await mail(donna, 'with both')
    await program.has(1)
    expect(String(program.heard.at(-1)!.headers['webhook-signature']).split(' ')).toHaveLength(2)
    await program.store.update(key!, { delivery: { ...row.delivery, secret: former } })
    await mail(donna, 'with the former one')
    await program.has(2)
  })

  test('a subscription that the gateway has lost is resumed from the cursor, with what was missed', async () => {
    const donna = await newAgent()
    await using program = await startAiProgram(gateway, donna)
    await program.subscribe('mail.received')
    await mail(donna, 'before')
    await program.has(1)
    const { body } = await gateway.call('GET', '/v1/wake-subscriptions', undefined, { key: donna.key })
    program.answerWith(() => ({ status: 204 }))
    await gateway.call('DELETE', `/v1/wake-subscriptions/${body.subscriptions[0].subscriptionId}`)
    await until(
      () => program.heard.at(-1)!.body.type,
      (type) => type === 'terminated',
    )
    program.answerWith(() => undefined)
    await mail(donna, 'missed')
    const [key] = program.store.rows.keys()
    await program.api.refresh({ key: key! })
    await program.has(2)
    expect(program.events[1]).toMatchObject({ data: { subject: 'missed' } })
  })

  test('a revoked key ends its subscriptions, and the program hears why', async () => {
    const donna = await newAgent()
    const made = await gateway.call('POST', `/v1/agents/${donna.handle.slice(1)}/keys`, { label: 'hosted' })
    await using program = await startAiProgram(gateway, { ...donna, key: made.body.apiKey })
    await program.subscribe('mail.received')
    const keys = `/v1/agents/${donna.handle.slice(1)}/keys/${made.body.keyId ?? made.body.key.keyId}`
    expect((await gateway.call('DELETE', keys)).status).toBeLessThan(300)
    await until(
      () => program.ended.length,
      (n) => n === 1,
    )
    expect(program.ended).toEqual([{ code: -32012, message: 'Forbidden', data: { reason: 'key-revoked' } }])
    expect(program.store.rows.size).toBe(0)
  })

  test('a wrong echo and a redirect are refused, and nothing is made', async () => {
    const donna = await newAgent()
    await using program = await startAiProgram(gateway, donna)
    program.answerWith(() => ({ status: 200, body: '{"challenge":"another"}' }))
    await expect(program.subscribe('mail.received')).rejects.toMatchObject({
      code: -32015,
      data: { reason: 'challenge_failed' },
    })
    program.answerWith(() => ({ status: 302, headers: { location: '/elsewhere' } }))
    await expect(program.subscribe('mail.received')).rejects.toMatchObject({ data: { reason: 'http_4xx' } })
    const { body } = await gateway.call('GET', '/v1/wake-subscriptions', undefined, { key: donna.key })
    expect(body.subscriptions).toEqual([])
  })
})
