import { expect, test } from 'vitest'
import { readProjectEvents } from '../../src/log/event-store.ts'
import { createAnnounce } from '../../src/mailbox/sending/announce.ts'
import { sendMail } from '../../src/mailbox/sending/send-mail.ts'
import { operator } from '../../src/registry/callers/caller.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'
import { insertEvents } from '../support/insert-events.ts'
import { besideStore } from '../support/store.ts'
import { type Office, openOffice } from './office.ts'

const eventsOf = async (office: Office, type: string) =>
  (await readProjectEvents(office.db, 'default', 0, 10_000)).filter((event) => event.type === type)
const mail = (to: string) => ({ to, subject: 'x' })

// S2-22
test('a sender may use its rate at once, then one message at a time as the rate refills, whatever others send', async () => {
  await using office = await openOffice('lola', 'donna')
  const context = office.limited({ perMinute: 7, stormTurns: 0, stormMessages: 0 })
  const send = () => sendMail(context, office.caller('lola'), mail('@donna'))
  for (let n = 0; n < 7; n++) await send()
  await expect(send()).rejects.toMatchObject({
    code: 'rate-limited',
    status: 429,
    extra: { limit: 7, retryAfterSeconds: 9 },
  })
  await sendMail(context, office.caller('donna'), mail('@lola'))
  office.clock.advance(9_000)
  await send()
  await expect(send()).rejects.toMatchObject({ code: 'rate-limited' })
  office.clock.advance(60_000)
  for (let n = 0; n < 7; n++) await send()
  await expect(send()).rejects.toMatchObject({ code: 'rate-limited' })
})

// The attack: mallory is beyond its rate, and each mistyped address still costs a search for the nearest names.
test('a sender beyond its rate hears that first, whatever the address, and a mistyped address uses none of the rate', async () => {
  await using office = await openOffice('mallory', 'donna')
  const context = office.limited({ perMinute: 2, stormTurns: 0, stormMessages: 0 })
  const send = (to: string) => sendMail(context, office.caller('mallory'), mail(to))
  const unknown = { code: 'agent-not-found', extra: { candidates: [] } }
  for (let n = 0; n < 5; n++)
    await expect(send('@dona'), 'names are compared after the transaction').rejects.toMatchObject(unknown)
  await send('@donna')
  await send('@donna')
  for (const to of ['@dona', 'has-telegram', '*', 'nowhere:x']) {
    await expect(send(to), to).rejects.toMatchObject({
      code: 'rate-limited',
      extra: { limitName: 'messagesPerMinute' },
    })
  }
})

test('mail to many that the rate refuses uses none of it', async () => {
  await using office = await openOffice('mallory', ...Array.from({ length: 101 }, (_, n) => `agent${n}`))
  const context = office.limited({ perMinute: 4, stormTurns: 0, stormMessages: 0 })
  const send = (to: string) => sendMail(context, office.caller('mallory'), mail(to))
  await send('*')
  for (let n = 0; n < 3; n++) {
    await expect(send('*')).rejects.toMatchObject({ code: 'rate-limited', extra: { limit: 4, retryAfterSeconds: 30 } })
  }
  await send('@agent0')
  await expect(send('@agent0')).rejects.toMatchObject({ code: 'rate-limited', extra: { retryAfterSeconds: 15 } })
})

test('mail to everybody counts once for each fifty recipients, and never more than the rate', async () => {
  const everybody = Array.from({ length: 101 }, (_, n) => `agent${n}`)
  await using office = await openOffice('lola', ...everybody)
  const sendWith = (perMinute: number, to: string) =>
    sendMail(office.limited({ perMinute, stormTurns: 0, stormMessages: 0 }), office.caller('lola'), mail(to))
  await sendWith(7, '*')
  await sendWith(7, '*')
  await expect(sendWith(7, '*')).rejects.toMatchObject({ code: 'rate-limited' })
  await sendWith(7, '@agent0')
  office.clock.advance(60_000)
  await sendWith(1, '*')
  await expect(sendWith(1, '@agent0')).rejects.toMatchObject({ code: 'rate-limited' })
})

test('the agents of a project have twenty times the rate of one together, and the refusal names the limit that raises it', async () => {
  const agents = Array.from({ length: 21 }, (_, n) => `agent${n}`)
  await using office = await openOffice('donna', ...agents)
  const context = office.limited({ perMinute: 1, stormTurns: 0, stormMessages: 0 })
  const send = (from: string) => sendMail(context, office.caller(from), mail('@donna'))
  for (const from of agents.slice(1)) await send(from)
  await expect(send('agent0')).rejects.toMatchObject({
    code: 'rate-limited',
    message: expect.stringMatching(/^Project default has used up messagesPerMinute: .* 20 messages/),
    extra: { limit: 20, limitName: 'messagesPerMinute' },
  })
})

test('the log has one event for a limit each minute, not one for each refusal', async () => {
  await using office = await openOffice('lola', 'donna')
  const context = office.limited({ perMinute: 1, stormTurns: 0, stormMessages: 0 })
  const send = () => sendMail(context, office.caller('lola'), mail('@donna')).catch(() => {})
  for (let n = 0; n < 5; n++) await send()
  expect(await eventsOf(office, 'mail.rate_limited')).toMatchObject([{ data: { agent: '@lola', limit: 1 } }])
  expect(await eventsOf(office, 'message.sent')).toHaveLength(1)
  office.clock.advance(60_000)
  for (let n = 0; n < 5; n++) await send()
  expect(await eventsOf(office, 'mail.rate_limited')).toHaveLength(2)
})

test('a refused message frees its idempotency key: the repeat is accepted', async () => {
  await using office = await openOffice('lola', 'donna')
  const context = office.limited({ perMinute: 1, stormTurns: 0, stormMessages: 0 })
  const send = (key: string) =>
    sendMail(context, office.caller('lola'), mail('@donna'), { idempotency: { key, fingerprint: 'f' } })
  await send('first')
  await expect(send('second')).rejects.toMatchObject({ code: 'rate-limited' })
  office.clock.advance(60_000)
  const { message } = await send('second')
  expect((await send('second')).message.id).toBe(message.id)
})

test('an invalid message does not use its idempotency key, and many concurrent repeats are one message', async () => {
  await using office = await openOffice('lola', 'donna')
  const send = (to: string) =>
    sendMail(
      office.context,
      office.caller('lola'),
      { to, subject: 'x' },
      { idempotency: { key: 'k', fingerprint: 'f' } },
    )
  const others = Array.from({ length: 10 }, () => office.send('donna', { to: '@lola', subject: 'y' }))
  const refused = await Promise.allSettled(Array.from({ length: 10 }, () => send('@nobody')))
  expect(refused.every((result) => result.status === 'rejected' && result.reason.code === 'agent-not-found')).toBe(true)
  expect(await Promise.all(others)).toHaveLength(10)
  const sent = await Promise.all(Array.from({ length: 10 }, () => send('@donna')))
  expect(new Set(sent.map(({ message }) => message.id)).size).toBe(1)
  expect(await eventsOf(office, 'message.sent')).toHaveLength(11)
})

test('a hundred at once use exactly the rate', async () => {
  await using office = await openOffice('lola', 'donna')
  const context = office.limited({ perMinute: 40, stormTurns: 0, stormMessages: 0 })
  const sent = await Promise.allSettled(
    Array.from({ length: 100 }, () => sendMail(context, office.caller('lola'), mail('@donna'))),
  )
  expect(sent.filter(({ status }) => status === 'fulfilled')).toHaveLength(40)
})

// Two agents that answer each other for ever
test('two that answer each other without end are stopped, the operator reads why, and later they may write again', async () => {
  await using office = await openOffice('lola', 'donna', 'mike')
  const context = office.limited({ perMinute: 0, stormTurns: 10, stormMessages: 0 })
  const send = (from: string, to: string) => sendMail(context, office.caller(from), mail(to))
  let passed = 0
  const answering = async () => {
    for (;;) {
      await send('lola', '@donna')
      passed++
      await send('donna', '@lola')
      passed++
      office.clock.advance(5_000)
    }
  }
  const problem = {
    code: 'storm-breaker',
    status: 429,
    extra: { agents: ['@lola', '@donna'], limitName: 'stormTurns', retryAfterSeconds: 600 },
  }
  await expect(answering()).rejects.toMatchObject(problem)
  // Ten turns at once, and one for each minute that they took.
  expect(passed).toBe(10)
  await expect(send('lola', '@donna')).rejects.toMatchObject({ code: 'storm-breaker' })
  await send('lola', '@mike')
  await send('mike', '@donna')
  expect(await eventsOf(office, 'mail.storm_tripped')).toMatchObject([
    {
      actor: '@gateway',
      data: { agents: ['@lola', '@donna'], limit: 10, reason: expect.stringContaining('Do not answer answers') },
    },
  ])
  office.clock.advance(10 * 60_000)
  await send('lola', '@donna')
  await send('donna', '@lola')
})

test('many messages in one direction are not a storm, nor are slow answers', async () => {
  await using office = await openOffice('lola', 'donna')
  const context = office.limited({ perMinute: 0, stormTurns: 3, stormMessages: 0 })
  for (let n = 0; n < 20; n++) await sendMail(context, office.caller('lola'), mail('@donna'))
  for (let n = 0; n < 20; n++) {
    await sendMail(context, office.caller('lola'), mail('@donna'))
    await sendMail(context, office.caller('donna'), mail('@lola'))
    office.clock.advance(10 * 60_000)
  }
})

// S2-22
test('three that answer each other in a ring are slowed to the pace of one recipient, and others write to it meanwhile', async () => {
  await using office = await openOffice('lola', 'donna', 'mike', 'ines')
  const context = office.limited({ perMinute: 0, stormTurns: 60, stormMessages: 8 })
  const send = (from: string, to: string) => sendMail(context, office.caller(from), mail(to))
  let passed = 0
  const ring = async () => {
    for (;;) {
      for (const [from, to] of [
        ['lola', '@donna'],
        ['donna', '@mike'],
        ['mike', '@lola'],
      ] as const) {
        await send(from, to)
        passed++
      }
      office.clock.advance(1_000)
    }
  }
  const problem = {
    code: 'recipient-storm',
    status: 429,
    extra: { agents: ['@donna'], limit: 8, limitName: 'stormMessages', retryAfterSeconds: 67 },
  }
  await expect(ring()).rejects.toMatchObject(problem)
  expect(passed).toBe(24)
  await send('ines', '@donna')
  await send('ines', '*')
  await send('donna', '@ines')
  await sendMail(context, operator, mail('@donna'))
  for (let n = 0; n < 10; n++) await send('ines', '@operator')
  expect(await eventsOf(office, 'mail.storm_tripped')).toMatchObject([
    {
      actor: '@gateway',
      data: { agents: ['@lola', '@donna'], limit: 8, reason: expect.stringContaining('in a ring') },
    },
  ])
})

/** Sends until it is refused. */
async function flood(send: () => Promise<unknown>) {
  for (let sent = 0; ; sent++) {
    const refused = await send()
      .then(() => undefined)
      .catch((problem) => problem)
    if (refused) return { sent, refused }
  }
}

// The attack
test('one agent that floods another one silences nobody else, whatever it does', async () => {
  await using office = await openOffice('mallory', 'donna', 'ines', 'mike')
  const context = office.limited({ perMinute: 0, stormTurns: 0, stormMessages: 80 })
  const send = (from: string) => sendMail(context, office.caller(from), mail('@donna'))
  const { sent, refused } = await flood(() => send('mallory'))
  expect(sent).toBe(80)
  expect(refused).toMatchObject({
    code: 'recipient-storm',
    message: expect.stringContaining('@mallory may write to it again in 8 s'),
    extra: { limit: 80, limitName: 'stormMessages', retryAfterSeconds: 8 },
  })
  // Whenever it is refused, each other one gets through, and then it does once.
  for (let n = 0; n < 20; n++) {
    await send(n % 2 === 0 ? 'ines' : 'mike')
    expect((await flood(() => send('mallory'))).sent).toBe(1)
  }
  expect(await eventsOf(office, 'mail.storm_tripped')).toMatchObject([{ data: { agents: ['@mallory', '@donna'] } }])
  office.clock.advance(20 * 60_000)
  expect((await flood(() => send('mallory'))).sent).toBe(80)
})

test('many senders at once get twice the number to a recipient and no more, and then share what becomes free', async () => {
  const crowd = Array.from({ length: 100 }, (_, n) => `sender-${n}`)
  await using office = await openOffice('donna', ...crowd)
  const context = office.limited({ perMinute: 0, stormTurns: 0, stormMessages: 20 })
  const send = (from: string) => sendMail(context, office.caller(from), mail('@donna'))
  const sent = await Promise.allSettled(crowd.map(send))
  expect(sent.filter(({ status }) => status === 'fulfilled')).toHaveLength(40)
  expect(await eventsOf(office, 'mail.storm_tripped')).toHaveLength(1)
  office.clock.advance(30_000)
  await send('sender-99')
})

test('a refused message writes nothing but its event, once', async () => {
  await using office = await openOffice('lola', 'donna')
  const context = office.limited({ perMinute: 2, stormTurns: 0, stormMessages: 0 })
  const send = () => sendMail(context, office.caller('lola'), mail('@donna'))
  const rows = async () =>
    besideStore(
      office.directory,
      'select (select count(*) from event) as events, (select count(*) from message) as messages, (select sum(level_ms) from bucket) as levels',
    )
  await send()
  await send()
  await expect(send()).rejects.toMatchObject({ code: 'rate-limited' })
  const before = await rows()
  for (let n = 0; n < 5; n++) await expect(send()).rejects.toMatchObject({ code: 'rate-limited' })
  expect(await rows()).toEqual(before)
})

test('what a message counted is given back when it is not stored', async () => {
  await using office = await openOffice('lola', 'donna')
  const context = office.limited({ perMinute: 1, stormTurns: 0, stormMessages: 0 })
  const failing = { ...context, append: () => Promise.reject(new Error('no room')) }
  const send = (with_: typeof context) => sendMail(with_, office.caller('lola'), mail('@donna'))
  for (let n = 0; n < 3; n++) await expect(send(failing)).rejects.toThrow('no room')
  await send(context)
  await expect(send(context)).rejects.toMatchObject({ code: 'rate-limited' })
})

test('agents that take turns on two gateways are stopped as on one', async () => {
  await using office = await openOffice('lola', 'donna')
  const limits = { perMinute: 0, stormTurns: 10, stormMessages: 0 }
  const [first, second] = [office.limited(limits), office.limited(limits)]
  let passed = 0
  const { refused } = await flood(async () => {
    await sendMail(first, office.caller('lola'), mail('@donna'))
    passed++
    await sendMail(second, office.caller('donna'), mail('@lola'))
    passed++
  })
  expect(refused.code).toBe('storm-breaker')
  // One gateway hears of the tenth turn when it has counted the next one.
  expect(passed).toBe(11)
  for (const [gateway, from, to] of [
    [first, 'lola', '@donna'],
    [second, 'donna', '@lola'],
  ] as const)
    await expect(sendMail(gateway, office.caller(from), mail(to))).rejects.toMatchObject({ code: 'storm-breaker' })
})

// The attack: one sends the same to both at the same time.
test('two gateways together accept what one does, but for what they accept in the same moment', async () => {
  await using office = await openOffice('lola', 'donna')
  const limits = { perMinute: 60, stormTurns: 0, stormMessages: 0 }
  const gateways = [office.limited(limits), office.limited(limits)]
  let sent = 0
  for (let second = 0; second < 300; second++) {
    for (const gateway of gateways) {
      if (await sendMail(gateway, office.caller('lola'), mail('@donna')).catch(() => undefined)) sent++
    }
    office.clock.advance(500)
  }
  expect(sent).toBeGreaterThanOrEqual(60 + 150)
  expect(sent).toBeLessThanOrEqual(60 + 150 + 4)
})

test('mail of the gateway and of the operator has no limit', async () => {
  await using office = await openOffice('lola')
  const context = office.limited({ perMinute: 1, stormTurns: 1, stormMessages: 0 })
  for (let n = 0; n < 10; n++) await sendMail(context, operator, mail('@lola'))
  const announce = createAnnounce(insertEvents, async () => [office.caller('lola').id])
  const payload = { identity: '@donna', surface: 'cursor', session_id: 's' }
  for (let n = 0; n < 10; n++) {
    await office.db.transaction((tx) =>
      announce(tx, { projectId: 'default', signalType: 'PeerJoined', payload, toAgentId: 'project' }),
    )
  }
  expect(await eventsOf(office, 'message.sent')).toHaveLength(20)
})

test('a limit survives a restart of the gateway, and its refusal says how long to wait', async () => {
  const clock = new FakeClock()
  const env = { ROUSE_MESSAGES_PER_MINUTE: '2' }
  await using first = await startGateway({ env, overrides: { clock } })
  const lola = await first.addAgent('lola')
  await first.addAgent('donna')
  const send = (gateway: typeof first) => gateway.call('POST', '/v1/messages', mail('@donna'), { key: lola.key })
  for (let n = 0; n < 2; n++) expect((await send(first)).status).toBe(201)
  await first.stop()
  await using second = await startGateway({ env, dataDir: first.dataDir, overrides: { clock } })
  const refused = await send(second)
  expect([refused.status, refused.headers.get('retry-after'), refused.body.code]).toEqual([429, '30', 'rate-limited'])
  expect(refused.body.detail).toContain('@lola has sent 2 messages within a minute')
  const { body } = await second.call('GET', '/v1/events?limit=1000')
  expect(body.events.at(-1)).toMatchObject({ type: 'mail.rate_limited' })
  await second.stop()
})

// S2-7
test('a new session is announced to up to a hundred others, and to none if there are more', async () => {
  await using office = await openOffice('lola')
  const payload = { identity: '@donna', surface: 'cursor', session_id: 's' }
  const sizes: number[] = []
  const append: typeof insertEvents = (tx, projectId, events) => {
    sizes.push(...events.map(({ audience }) => audience.length))
    return insertEvents(tx, projectId, events)
  }
  const join = (present: number) => {
    const announce = createAnnounce(append, async () => Array.from({ length: present }, (_, n) => `agent-${n}`))
    return office.db.transaction((tx) =>
      announce(tx, { projectId: 'default', signalType: 'PeerJoined', payload, toAgentId: 'project' }),
    )
  }
  await join(100)
  await join(101)
  expect(sizes).toEqual([100])
})
