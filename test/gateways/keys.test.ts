import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keyWatchMs } from '../../src/security/key-watch.ts'
import { run } from '../cli/terminal.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { openEventStream } from '../support/event-stream.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { databaseUrlFor } from '../support/store.ts'
import { until } from '../support/until.ts'
import { encryptionKey } from './two-gateways.ts'

test('an admin key that is replaced without an overlap is refused by every gateway within a second, and its streams end', async () => {
  using store = dataDirectory()
  const env = {
    ROUSE_DATABASE_URL: (await databaseUrlFor(store.path)) as string,
    ROUSE_ENCRYPTION_KEY: encryptionKey,
  }
  const clock = new FakeClock(Date.now())
  await using a = await startGateway({ env, overrides: { clock } })
  await using b = await startGateway({ env, overrides: { clock } })
  const old = a.adminKey
  await a.addAgent('donna')
  await using log = await openEventStream(`${b.url}/v1/events?since=0`, { authorization: `Bearer ${old}` })
  await log.take(1)
  const { code } = await run(['admin-key', 'rotate', '--overlap', '0'], { ...env, ROUSE_DATA_DIR: a.dataDir })
  expect(code).toBe(0)
  clock.advance(1_000)
  for (const gateway of [a, b]) {
    await until(
      async () => (await gateway.call('GET', '/v1/agents', undefined, { key: old })).status,
      (status) => status === 401,
    )
  }
  expect((await log.take(1_000)).at(-1)).toMatchObject({ event: 'error', data: { code: 'unauthenticated' } })
})

test('an admin key and a card key that are replaced beside one gateway count on every other one', async () => {
  using store = dataDirectory()
  const env = {
    ROUSE_DATABASE_URL: (await databaseUrlFor(store.path)) as string,
    ROUSE_ENCRYPTION_KEY: encryptionKey,
  }
  const clock = new FakeClock(Date.now())
  await using a = await startGateway({ env, overrides: { clock } })
  await using b = await startGateway({ env, overrides: { clock } })
  const old = a.adminKey
  const commands = { ...env, ROUSE_DATA_DIR: a.dataDir }
  expect(await run(['admin-key', 'rotate', '--overlap', '60'], commands)).toMatchObject({ code: 0 })
  expect(await run(['card-key', 'rotate', '--now'], commands)).toMatchObject({ code: 0 })
  const key = readFileSync(join(a.dataDir, 'admin.key'), 'utf8').trim()
  const status = async (gateway: TestGateway, one: string) =>
    (await gateway.call('GET', '/v1/agents', undefined, { key: one })).status
  for (const gateway of [a, b]) expect([await status(gateway, key), await status(gateway, old)]).toEqual([200, 200])

  clock.advance(keyWatchMs)
  const jwks = async (gateway: TestGateway) => (await gateway.call('GET', '/.well-known/jwks.json')).body.keys
  await until(
    () => jwks(b),
    ({ length }) => length === 2,
  )
  expect(await jwks(b)).toEqual(
    await until(
      () => jwks(a),
      ({ length }) => length === 2,
    ),
  )
  await until(
    () => readFileSync(join(b.dataDir, 'admin.key'), 'utf8').trim(),
    (kept) => kept === key,
  )

  clock.advance(61_000)
  for (const gateway of [a, b]) {
    await until(
      () => status(gateway, old),
      (answer) => answer === 401,
    )
    expect(await status(gateway, key)).toBe(200)
  }
  // The channel of the bus is named after the store, and no rotation changes it: a new gateway still gets the messages.
  await using c = await startGateway({ env })
  const donna = await c.addAgent('donna')
  await using stream = await openEventStream(`${c.url}/v1/events?since=0`, { authorization: `Bearer ${donna.key}` })
  const { id } = await a.send('donna', 'hello', { key })
  const events = await stream.take(2)
  expect(JSON.stringify(events)).toContain(id)
})
