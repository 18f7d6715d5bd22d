import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { status } from '@grpc/grpc-js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AnswerReader, UnreadAnswers } from '../../src/admission/unread-answers.ts'
import { run } from '../cli/terminal.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { storeEnv } from '../support/store.ts'
import { until } from '../support/until.ts'
import { bearer, halfSent } from './raw-client.ts'

// The attack: a call whose key is good when it begins, and whose message arrives after the key has ended.

/** Remembers whose keys were checked: each call asks whether there is room for its answer, once its key was found. */
class Checked extends UnreadAnswers {
  readonly keys = new Set<string>()

  override requireRoom(reader: AnswerReader, bytes = 0): void {
    if ('keyId' in reader) this.keys.add(reader.keyId)
    super.requireRoom(reader, bytes)
  }
}

const checked = new Checked()
let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway({ overrides: { unread: checked } })
  await gateway.addAgent('donna')
})
afterAll(() => gateway[Symbol.asyncDispose]())

const calls = {
  '1.0': (id: string) => ({ message: { tenant: 'agents/donna', id }, more: {} }),
  '0.3': (id: string) => ({ message: { name: `tasks/${id}` }, more: { 'a2a-tenant': 'agents/donna' } }),
}

let spies = 0

/** A spy, with a task of its own that it is about to cancel: its key was checked, and its message has begun to arrive. */
async function startCancelling(version: keyof typeof calls) {
  const handle = `spy-${spies++}`
  const { apiKey, keyId } = (await gateway.call('POST', '/v1/agents', { handle })).body
  const { id } = await gateway.send('donna', 'work', { key: apiKey })
  checked.keys.clear()
  const { message, more } = calls[version](id)
  const call = halfSent(gateway.grpcTarget, { version, method: 'cancelTask', message, sent: bearer(apiKey, more) })
  await until(
    () => checked.keys,
    (keys) => keys.has(keyId),
  )
  const state = async () => (await gateway.call('GET', `/v1/tasks/${id}`)).body.state
  return { handle, keyId, call, state }
}

describe.each(['1.0', '0.3'] as const)('a call of v%s whose message arrives late', (version) => {
  test('is carried out while its key is good', async () => {
    const { call, state } = await startCancelling(version)
    using _call = call
    expect([await call.sendRest(), await state()]).toEqual([status.OK, 'canceled'])
  })

  test.each([
    ['its key was revoked', (handle: string, keyId: string) => `/v1/agents/${handle}/keys/${keyId}`],
    ['its agent was removed', (handle: string) => `/v1/agents/${handle}`],
  ])('is refused when %s meanwhile, and does nothing', async (_, path) => {
    const { handle, keyId, call, state } = await startCancelling(version)
    using _call = call
    expect((await gateway.call('DELETE', path(handle, keyId))).status).toBeLessThan(300)
    expect([await call.sendRest(), await state()]).toEqual([status.UNAUTHENTICATED, 'submitted'])
  })
})

test('a call with an admin key that ended meanwhile does nothing', async () => {
  const clock = new FakeClock(Date.now())
  await using gateway = await startGateway({ overrides: { clock } })
  await gateway.addAgent('donna')
  const { id } = await gateway.send('donna', 'work')
  const { message } = calls['1.0'](id)
  using call = halfSent(gateway.grpcTarget, { method: 'cancelTask', message, sent: bearer(gateway.adminKey) })
  await call.reached()
  // It takes the same way, and comes later.
  expect((await gateway.call('GET', '/v1/agents')).status).toBe(200)
  const env = { ROUSE_DATA_DIR: gateway.dataDir, ...(await storeEnv(gateway.dataDir)) }
  expect((await run(['admin-key', 'rotate', '--overlap', '0'], env)).code).toBe(0)
  const key = readFileSync(join(gateway.dataDir, 'admin.key'), 'utf8').trim()
  clock.advance(1_000)
  await until(
    () => gateway.call('GET', '/v1/agents'),
    (answer) => answer.status === 401,
  )
  expect(await call.sendRest()).toBe(status.UNAUTHENTICATED)
  expect((await gateway.call('GET', `/v1/tasks/${id}`, undefined, { key })).body.state).toBe('submitted')
})

test('a call with a key that expired meanwhile does nothing', async () => {
  const clock = new FakeClock()
  const unread = new Checked()
  await using gateway = await startGateway({ overrides: { clock, unread } })
  for (const handle of ['donna', 'spy']) await gateway.addAgent(handle)
  // Less than until a sweep ends an expired key as a revocation does.
  const { apiKey, keyId } = (await gateway.call('POST', '/v1/agents/spy/keys', { expiresInSeconds: 10 })).body
  const { id } = await gateway.send('donna', 'work', { key: apiKey })
  unread.keys.clear()
  const { message } = calls['1.0'](id)
  using call = halfSent(gateway.grpcTarget, { method: 'cancelTask', message, sent: bearer(apiKey) })
  await until(
    () => unread.keys,
    (keys) => keys.has(keyId),
  )
  clock.advance(10_000)
  expect(await call.sendRest()).toBe(status.UNAUTHENTICATED)
  expect((await gateway.call('GET', `/v1/tasks/${id}`)).body.state).toBe('submitted')
})
