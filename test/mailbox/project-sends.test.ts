import { SendMessageRequest } from '@a2a-js/sdk'
import { status } from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import { defaultOfProject } from '../../src/mailbox/limits/mail-limits.ts'
import { sendMail } from '../../src/mailbox/sending/send-mail.ts'
import type { LimitOverrides } from '../../src/share-limits.ts'
import { sending, wireTo } from '../a2a/wire.ts'
import { bearer, type Refusal, rawClient } from '../grpc/raw-client.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent } from '../support/gateway.ts'
import { openOffice } from './office.ts'

const name = 'projectMessagesPerMinute'
const mail = (to: string) => ({ to, subject: 'x' })

/** An office where some limits are set for the project. */
async function openLimited(limits: LimitOverrides, ...handles: string[]) {
  const office = await openOffice(...handles)
  const context = office.limited({ perMinute: 300, stormTurns: 0, stormMessages: 0 })
  const send = (from: string, to: string, own = limits) =>
    sendMail(context, { ...office.caller(from), limits: own }, mail(to))
  return { office, context, send, [Symbol.asyncDispose]: () => office[Symbol.asyncDispose]() }
}

const refused = (limitName: string) => ({ code: 'rate-limited', status: 429, extra: { limitName } })

test('mail that the project refuses uses nothing of the rate of its sender, and the other way round', async () => {
  const limits = { messagesPerMinute: 3, [name]: 5 }
  await using s = await openLimited(limits, 'lola', 'bob', 'donna')
  for (let n = 0; n < 3; n++) await s.send('lola', '@donna')
  for (let n = 0; n < 9; n++) await expect(s.send('lola', '@donna')).rejects.toMatchObject(refused('messagesPerMinute'))
  for (let n = 0; n < 2; n++) await s.send('bob', '@donna')
  for (let n = 0; n < 9; n++) await expect(s.send('bob', '@donna')).rejects.toMatchObject(refused(name))
  const free = { ...limits, [name]: 0 }
  await s.send('bob', '@donna', free)
  await expect(s.send('bob', '@donna', free)).rejects.toMatchObject(refused('messagesPerMinute'))
})

test('mail that is not sent counts nothing for the project, and mail beyond its rate looks nothing up', async () => {
  await using s = await openLimited({ [name]: 2 }, 'lola', 'donna')
  for (let n = 0; n < 5; n++) await expect(s.send('lola', '@dona')).rejects.toMatchObject({ code: 'agent-not-found' })
  await s.send('lola', '@donna')
  await s.send('lola', '@donna')
  for (const to of ['@dona', 'has-telegram', '*', 'nowhere:x']) {
    await expect(s.send('lola', to), to).rejects.toMatchObject(refused(name))
  }
})

test('mail to more than 50 agents counts once for each 50', async () => {
  await using s = await openLimited({ [name]: 4 }, 'lola', ...Array.from({ length: 101 }, (_, n) => `agent${n}`))
  await s.send('lola', '*')
  await expect(s.send('lola', '*')).rejects.toMatchObject({ extra: { limitName: name, retryAfterSeconds: 30 } })
  await s.send('lola', '@agent1')
  await expect(s.send('lola', '@agent1')).rejects.toMatchObject({ extra: { limitName: name, retryAfterSeconds: 15 } })
  s.office.clock.advance(15_000)
  await s.send('lola', '@agent1')
})

test('a repeat is answered whatever its project has sent since', async () => {
  await using s = await openLimited({ [name]: 1 }, 'lola', 'donna')
  const caller = { ...s.office.caller('lola'), limits: { [name]: 1 } }
  const idempotency = { key: 'k', fingerprint: 'f' }
  const first = await sendMail(s.context, caller, mail('@donna'), { idempotency })
  await expect(s.send('lola', '@donna')).rejects.toMatchObject(refused(name))
  expect((await sendMail(s.context, caller, mail('@donna'), { idempotency })).message.id).toBe(first.message.id)
})

test('the default of a project follows what the gateway lets one agent send, and is never below its own', () => {
  expect([0, 1, 300, 600].map((perMinute) => defaultOfProject({ perMinute }))).toEqual([0, 6_000, 6_000, 12_000])
})

async function start(env: Record<string, string> = {}) {
  const clock = new FakeClock()
  const gateway = await startGateway({ env, overrides: { clock } })
  await gateway.call('POST', '/v1/projects', { project: 'red' })
  const [lola, bob, donna] = [
    await gateway.addAgent('lola'),
    await gateway.addAgent('bob'),
    await gateway.addAgent('donna'),
  ]
  const [zoe, ada] = [
    await gateway.addAgent('zoe', { project: 'red' }),
    await gateway.addAgent('ada', { project: 'red' }),
  ]
  const set = (limit: number | null, project = 'default') =>
    gateway.call('PATCH', `/v1/projects/${project}`, { limits: { [name]: limit } })
  return {
    gateway,
    clock,
    lola,
    bob,
    donna,
    zoe,
    ada,
    set,
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  }
}

test('mail, hand-offs and A2A messages of the agents of a project are one rate; each binding names it', async () => {
  await using s = await start()
  using grpc = rawClient(s.gateway.grpcTarget)
  const request = () => SendMessageRequest.fromJSON({ tenant: 'agents/donna', ...sending() })
  const overGrpc = ({ key }: TestAgent) => grpc.unary('sendMessage', request(), bearer(key)) as Promise<Refusal>
  const to = ({ key }: TestAgent) => wireTo(s.gateway, s.donna, key)
  const write = (from: TestAgent) => s.gateway.call('POST', '/v1/messages', mail('@donna'), from)
  const handOff = (from: TestAgent) => s.gateway.call('POST', '/v1/claims/handoff', { ref: 'a', to: '@donna' }, from)

  await s.gateway.call('POST', '/v1/claims', { ref: 'a' }, s.lola)
  await s.gateway.call('POST', '/v1/claims', { ref: 'b' }, s.lola)
  await s.set(5)
  await s.set(5, 'red')
  expect((await write(s.lola)).status).toBe(201)
  expect((await handOff(s.lola)).status).toBe(200)
  expect((await to(s.bob).rpc('SendMessage', sending())).body.result.task.id).toBeDefined()
  expect((await to(s.lola).rest('POST', '/message:send', sending())).status).toBe(200)
  expect(await overGrpc(s.bob)).toHaveProperty('value')

  const metadata = { code: 'rate-limited', limit: '5', limitName: name, retryAfterSeconds: '12' }
  for (const agent of [s.lola, s.bob]) {
    const letter = await write(agent)
    expect([letter.status, letter.headers.get('retry-after')]).toEqual([429, '12'])
    expect(letter.body).toMatchObject({ code: 'rate-limited', limitName: name, limit: 5, retryAfterSeconds: 12 })
    const rpc = await to(agent).rpc('SendMessage', sending())
    expect(rpc.headers.get('retry-after')).toBe('12')
    expect(rpc.body.error.message).toMatch(/^Project default has used up.*PATCH \/v1\/projects\/\{project\}/)
    expect(rpc.body.error.data).toMatchObject([{ reason: 'RATE_LIMITED', metadata }])
    const rest = await to(agent).rest('POST', '/message:send', sending())
    expect([rest.status, rest.headers.get('retry-after')]).toEqual([429, '12'])
    expect(rest.body.error).toMatchObject({
      status: 'RESOURCE_EXHAUSTED',
      details: [{ reason: 'RATE_LIMITED', metadata }],
    })
    expect(await overGrpc(agent)).toMatchObject({
      code: status.RESOURCE_EXHAUSTED,
      reason: 'RATE_LIMITED',
      info: metadata,
    })
  }
  const again = await s.gateway.call('POST', '/v1/claims/handoff', { ref: 'b', to: '@donna' }, s.lola)
  expect([again.status, again.body.limitName]).toEqual([429, name])

  // The other project, and the operator.
  expect((await wireTo(s.gateway, s.ada, s.zoe.key).rpc('SendMessage', sending())).status).toBe(404)
  expect((await s.gateway.call('POST', '/v1/messages', mail('@ada'), s.zoe)).status).toBe(201)
  expect((await s.gateway.call('POST', '/v1/messages', mail('@donna'))).status).toBe(201)
  await s.gateway.send('donna', 'from a person')
  // A PATCH applies from the next request on.
  await s.set(6)
  s.clock.advance(10_000)
  expect(await overGrpc(s.bob)).toHaveProperty('value')
  expect((await write(s.lola)).body.limitName).toBe(name)
  await s.set(0)
  expect((await write(s.lola)).status).toBe(201)
})

test('the default is shown with that of the gateway', async () => {
  await using s = await start({ ROUSE_MESSAGES_PER_MINUTE: '600' })
  const read = async () => (await s.gateway.call('GET', '/v1/projects/default')).body.limits
  expect(await read()).toMatchObject({ messagesPerMinute: 600, [name]: 12_000 })
  await s.set(7)
  expect((await read())[name]).toBe(7)
})
