import { expect, test } from 'vitest'
import { type Config, configFromEnv, createApp, createClient } from '../../src/index.ts'
import { silentLogger } from '../../src/logger/logger.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { storeEnv } from '../support/store.ts'

test('a gateway runs in a process of somebody else, and answers its client', async () => {
  using directory = dataDirectory()
  const store = await storeEnv(directory.path)
  const env = { ROUSE_PORT: '0', ROUSE_GRPC_PORT: 'off', ROUSE_DATA_DIR: directory.path, ...store }
  const gateway = createApp(configFromEnv(env), { log: silentLogger })
  expect(() => gateway.adminKey).toThrow('The gateway has not been started.')
  const { url, grpcTarget } = await gateway.start()
  expect(grpcTarget).toBeUndefined()
  const client = createClient({ url, key: gateway.adminKey })
  expect(await client.request('GET', '/readyz')).toMatchObject({ status: 'ready' })
  await gateway.stop()
  await gateway.stop()
  await expect(client.inbox()).rejects.toMatchObject({ code: 'unreachable' })
})

test('what is no configuration is refused with what makes one', () => {
  for (const wrong of [{}, undefined, { http: {} }]) {
    expect(() => createApp(wrong as Config)).toThrow(/configFromEnv/)
  }
  expect(() => configFromEnv({ ROUSE_PORT: 'x', ROUSE_LOG_LEVEL: 'loud' })).toThrow(/ROUSE_PORT[\s\S]*ROUSE_LOG_LEVEL/)
})

test('a gateway that was never started stops', async () => {
  using directory = dataDirectory()
  await createApp(configFromEnv({ ROUSE_DATA_DIR: directory.path })).stop()
})
