import { verifyAgentCardSignature } from '@a2a-js/sdk'
import { DefaultAgentCardResolver } from '@a2a-js/sdk/client'
import * as jose from 'jose'
import { expect, test, vi } from 'vitest'
import { publishAheadSeconds } from '../../src/agent-card/card-keys.ts'
import { keyWatchMs } from '../../src/security/key-watch.ts'
import { run } from '../cli/terminal.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { storeEnv } from '../support/store.ts'
import { until } from '../support/until.ts'

// The SDK's verifier reports every signature that fails.
vi.spyOn(console, 'debug').mockImplementation(() => {})

async function rotate(gateway: TestGateway, ...flags: string[]) {
  const env = { ROUSE_DATA_DIR: gateway.dataDir, ...(await storeEnv(gateway.dataDir)) }
  const { code, stdout, stderr } = await run(['card-key', 'rotate', '--json', ...flags], env)
  expect(code, stderr).toBe(0)
  return JSON.parse(stdout) as { kid: string; signsFrom: string }
}

const published = async (gateway: TestGateway): Promise<jose.JWK[]> =>
  (await gateway.call('GET', '/.well-known/jwks.json', undefined, { key: null })).body.keys
const kids = async (gateway: TestGateway) => (await published(gateway)).map(({ kid }) => kid)
const cardOf = (gateway: TestGateway) => new DefaultAgentCardResolver().resolve(`${gateway.url}/agents/donna/`)

test('a card key is replaced without a restart: published first, then signing, and old signatures still verify', async () => {
  const clock = new FakeClock(Date.now())
  await using gateway = await startGateway({ overrides: { clock } })
  await gateway.addAgent('donna')
  const [before] = await kids(gateway)
  const oldCard = await cardOf(gateway)
  const first = await gateway.call('GET', '/agents/donna/.well-known/agent-card.json')

  const { kid } = await rotate(gateway)
  clock.advance(keyWatchMs)
  expect(
    await until(
      () => kids(gateway),
      ({ length }) => length === 2,
    ),
  ).toEqual([before, kid])
  expect(kidsOf((await cardOf(gateway)).signatures)).toEqual([before])

  clock.advance(publishAheadSeconds * 1000 + keyWatchMs)
  expect(
    await until(
      () => kids(gateway),
      ([signing]) => signing === kid,
    ),
  ).toEqual([kid, before])
  const card = await cardOf(gateway)
  expect(kidsOf(card.signatures)).toEqual([kid])
  const keys = await published(gateway)
  for (const one of [oldCard, card]) {
    await verifyAgentCardSignature(async (kid) => keys.find((key) => key.kid === kid)!)(one)
  }
  // A client with the old card learns from each validator that there is a new one.
  for (const [name, value] of [
    ['If-None-Match', first.headers.get('etag')],
    ['If-Modified-Since', first.headers.get('last-modified')],
  ]) {
    const headers = { [name!]: value! }
    expect(
      (await gateway.call('GET', '/agents/donna/.well-known/agent-card.json', undefined, { headers })).status,
    ).toBe(200)
  }
})

test('the tokens of push notifications are signed by the key that signs cards', async () => {
  const clock = new FakeClock(Date.now())
  await using gateway = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver()
  await gateway.addAgent('donna')
  const { kid } = await rotate(gateway, '--now')
  clock.advance(keyWatchMs)
  await until(
    () => kids(gateway),
    ([signing]) => signing === kid,
  )
  const authentication = { scheme: 'Bearer' }
  await gateway.send('donna', 'hello', {
    configuration: { taskPushNotificationConfig: { url: receiver.url, authentication } },
  })
  const [push] = await receiver.waitFor(1)
  const token = push!.headers.authorization!.replace('Bearer ', '')
  expect(jose.decodeProtectedHeader(token)).toMatchObject({ kid, typ: 'JWT' })
  await jose.jwtVerify(token, jose.createLocalJWKSet({ keys: await published(gateway) }), { typ: 'JWT' })
})

test('a card is never accepted as a token, nor a token as a card', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('donna')
  const { body } = await gateway.call('GET', '/agents/donna/.well-known/agent-card.json')
  const keys = jose.createLocalJWKSet({ keys: await published(gateway) })
  const { signatures, ...document } = body
  for (const { protected: header, signature } of signatures) {
    expect(jose.decodeProtectedHeader({ protected: header })).toMatchObject({ typ: 'JOSE' })
    const payload = jose.base64url.encode(JSON.stringify(document))
    await expect(jose.jwtVerify(`${header}.${payload}.${signature}`, keys, { typ: 'JWT' })).rejects.toThrow()
  }
})

test('a rotated key serves after a restart, and the one that has leaked is published no more', async () => {
  const first = await startGateway()
  const [leaked] = await kids(first)
  const { kid } = await rotate(first, '--now', '--keep-days', '0')
  await first.stop()
  await using second = await startGateway({ dataDir: first.dataDir })
  expect(await kids(second)).toEqual([kid])
  expect(kid).not.toBe(leaked)
})

function kidsOf(signatures: readonly { protected: string }[]): unknown[] {
  return [...new Set(signatures.map((one) => jose.decodeProtectedHeader({ protected: one.protected }).kid))]
}
