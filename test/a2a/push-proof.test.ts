import { createHash, createHmac } from 'node:crypto'
import * as jose from 'jose'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { type ReceivedWake, startReceiver } from '../support/receiver.ts'
import { advanceUntil } from '../wakes/acts.ts'
import { legacy, sending, wireTo } from './wire.ts'

let gateway: TestGateway
let donna: TestAgent

beforeAll(async () => {
  gateway = await startGateway()
  donna = await gateway.addAgent('donna')
})

afterAll(() => gateway[Symbol.asyncDispose]())

/** Sets a config on a new task over v1.0, moves the task, and returns the push about that. */
async function pushFor(config: JsonObject): Promise<{ push: ReceivedWake; taskId: string; origin: string }> {
  await using receiver = await startReceiver()
  const { id: taskId } = await gateway.send('donna', 'work')
  const made = await wireTo(gateway, donna, gateway.adminKey).rpc('CreateTaskPushNotificationConfig', {
    taskId,
    id: 'my-config',
    url: `${receiver.url}hook?a=b`,
    ...config,
  })
  expect(made.body.error).toBeUndefined()
  await gateway.move(donna, taskId, 'working')
  const [push] = await receiver.waitFor(1)
  return { push: push!, taskId, origin: new URL(receiver.url).origin }
}

function bearer({ headers }: ReceivedWake): string {
  const [, token] = /^Bearer (.+)$/.exec(headers.authorization ?? '') ?? []
  if (!token) throw new Error(`No bearer token in ${headers.authorization}.`)
  return token
}

describe('authentication', () => {
  test.each([
    ['Bearer', 'secret', 'Bearer secret'],
    ['Basic', 'dXNlcjpwYXNz', 'Basic dXNlcjpwYXNz'],
    ['bearer', 'secret', 'bearer secret'],
    ['Basic', '', undefined],
    ['', 'secret', undefined],
  ])('scheme "%s" with credentials "%s" is Authorization: %s', async (scheme, credentials, sent) => {
    const { push } = await pushFor({ authentication: { scheme, credentials } })
    expect(push.headers.authorization).toBe(sent)
  })

  test.each(['Bearer', 'bearer', 'BEARER'])('%s without credentials is a JWT of the gateway', async (scheme) => {
    const { push, taskId, origin } = await pushFor({ authentication: { scheme } })
    const jwks = jose.createRemoteJWKSet(new URL('/.well-known/jwks.json', gateway.url))
    const verified = await jose.jwtVerify(bearer(push), jwks, {
      algorithms: ['ES256'],
      issuer: gateway.url,
      audience: origin,
    })
    expect(verified.payload).toMatchObject({
      sub: '@operator',
      project: 'default',
      configId: 'my-config',
      taskId,
      urlHash: createHash('sha256').update(`${origin}/hook?a=b`).digest('base64url'),
      jti: expect.any(String),
    })
    expect(verified.payload.exp! - verified.payload.iat!).toBe(300)
    await expect(jose.jwtVerify(bearer(push), jwks, { audience: 'http://other.example' })).rejects.toThrow(/aud/)
  })

  test('a v0.3 config requests it with schemes only', async () => {
    await using receiver = await startReceiver()
    const { id: taskId } = await gateway.send('donna', 'work')
    const pushNotificationConfig = { url: receiver.url, authentication: { schemes: ['Bearer'] } }
    const wire = wireTo(gateway, donna, gateway.adminKey)
    await wire.rpc('tasks/pushNotificationConfig/set', { taskId, pushNotificationConfig }, legacy)
    await gateway.move(donna, taskId, 'working')
    const [push] = await receiver.waitFor(1)
    const { body } = await gateway.call('GET', '/.well-known/jwks.json', undefined, { key: null })
    const { payload } = await jose.jwtVerify(bearer(push!), jose.createLocalJWKSet(body))
    expect(payload).toMatchObject({ iss: gateway.url, taskId })
  })

  test('each try has a token and a time of its own, and the same webhook-id', async () => {
    const clock = new FakeClock()
    const env = { ROUSE_PUBLIC_URL: 'https://rouse.example/', ROUSE_WEBHOOK_ALLOW: '127.0.0.0/8' }
    await using gateway = await startGateway({ env, overrides: { clock, random: () => 0 } })
    await using receiver = await startReceiver((_, res, nth) => {
      res.statusCode = nth < 3 ? 500 : 200
      res.end()
    })
    await gateway.addAgent('donna')
    const taskPushNotificationConfig = { url: receiver.url, token: 't0ken', authentication: { scheme: 'Bearer' } }
    const { id } = await gateway.send('donna', 'work', { configuration: { taskPushNotificationConfig } })
    await advanceUntil(
      clock,
      1000,
      () => receiver.wakes.length,
      (count) => count === 3,
    )
    const { body } = await gateway.call('GET', '/.well-known/jwks.json', undefined, { key: null })
    const tries = await Promise.all(
      receiver.wakes.map(async (push) => {
        const options = { currentDate: new Date(clock.now()), issuer: 'https://rouse.example' }
        return (await jose.jwtVerify(bearer(push), jose.createLocalJWKSet(body), options)).payload
      }),
    )
    expect(new Set(tries.map(({ jti }) => jti)).size).toBe(3)
    expect(new Set(tries.map(({ iat }) => iat)).size).toBe(3)
    expect(tries.map(({ taskId }) => taskId)).toEqual([id, id, id])
    const headersOf = (name: string) => new Set(receiver.wakes.map(({ headers }) => headers[name]))
    expect(headersOf('webhook-id').size).toBe(1)
    expect(tries.map(({ iat }) => String(iat))).toEqual([...headersOf('webhook-timestamp')])
    expect(headersOf('webhook-signature').size).toBe(3)
  })
})

describe('the token', () => {
  test('in the form of a Standard Webhooks secret is one: its library verifies the push', async () => {
    const token = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
    const { push } = await pushFor({ token })
    const headers = push.headers as Record<string, string>
    expect(new Webhook(token).verify(push.raw, headers)).toEqual(push.body)
    expect(() => new Webhook(token).verify(`${push.raw} `, headers)).toThrow()
    expect(headers['x-a2a-notification-token']).toBe(token)
  })

  test('in any other form counts as text: id, time and the exact body are signed with it', async () => {
    const { push } = await pushFor({ token: 'correct horse battery' })
    const signed = `${push.headers['webhook-id']}.${push.headers['webhook-timestamp']}.${push.raw}`
    const expected = createHmac('sha256', Buffer.from('correct horse battery', 'utf8')).update(signed).digest('base64')
    expect(push.headers['webhook-signature']).toBe(`v1,${expected}`)
  })

  test('without a token nothing is signed, but id and time are sent', async () => {
    const { push } = await pushFor({})
    expect(push.headers).not.toHaveProperty('webhook-signature')
    expect(push.headers).not.toHaveProperty('authorization')
    expect(push.headers['webhook-id']).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/)
    expect(Number(push.headers['webhook-timestamp'])).toBeGreaterThan(Date.now() / 1000 - 60)
  })
})

describe('a secret does not travel in clear text', () => {
  const create = async (config: JsonObject) => {
    const { id: taskId } = await gateway.send('donna', 'work')
    const wire = wireTo(gateway, donna, gateway.adminKey)
    return wire.rpc('CreateTaskPushNotificationConfig', { taskId, ...config })
  }
  const bearer = (credentials: string) => ({ authentication: { scheme: 'Bearer', credentials } })

  test.each<[string, JsonObject, string]>([
    ['http://client.example/hook', { token: 't0ken' }, 'token'],
    ['http://client.example/hook', bearer('secret'), 'authentication.credentials'],
    ['http://8.8.8.8/hook', { token: 't0ken', ...bearer('secret') }, 'token'],
    ['http://localhost.client.example/hook', { token: 't0ken' }, 'token'],
  ])('to %s with %j', async (url, fields, field) => {
    const { body } = await create({ url, ...fields })
    expect(body.error).toMatchObject({ code: -32602, data: [{ metadata: { field } }] })
    expect(body.error.message).toContain('https://')
    expect((await create({ url: url.replace('http:', 'https:'), ...fields })).body.error).toBeUndefined()
  })

  test.each([
    ['http://client.example/hook', {}],
    ['http://client.example/hook', bearer('')],
    ['http://localhost:9/hook', { token: 't0ken' }],
    ['http://127.0.0.1:9/hook', bearer('secret')],
  ])('which is why %s with %j is fine', async (url, fields) => {
    expect((await create({ url, ...fields })).body.error).toBeUndefined()
  })
})

describe('a value that no header can contain is refused', () => {
  test.each<[JsonObject, string]>([
    [{ token: 'a\r\nX-Evil: 1' }, 'token'],
    [{ token: 'schlüssel' }, 'token'],
    [{ token: 'x'.repeat(8193) }, 'token'],
    [{ authentication: { scheme: 'Bearer', credentials: 'a\nb' } }, 'authentication.credentials'],
    [{ authentication: { scheme: 'Bearer x', credentials: 'a' } }, 'authentication.scheme'],
    [{ id: 'x'.repeat(501) }, 'id'],
  ])('%j', async (fields, field) => {
    const wire = wireTo(gateway, donna, gateway.adminKey)
    const { id: taskId } = await gateway.send('donna', 'work')
    const config = { url: 'http://127.0.0.1:9/', ...fields }
    const added = await wire.rpc('CreateTaskPushNotificationConfig', { taskId, ...config })
    expect(added.body.error).toMatchObject({ code: -32602, data: [{ metadata: { field } }] })
    const withMessage = await wire.rpc('SendMessage', sending({}, { taskPushNotificationConfig: config }))
    const path = `configuration.taskPushNotificationConfig.${field}`
    expect(withMessage.body.error).toMatchObject({ code: -32602, data: [{ metadata: { field: path } }] })
  })
})
