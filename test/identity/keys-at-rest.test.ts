import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SecretBox } from '../../src/security/secret.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { startGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { besideStore, onPostgres } from '../support/store.ts'

const newEncryptionKey = (): string => randomBytes(32).toString('base64')

test('the store has no readable API key and no signing key', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const { id, signingKey } = await gateway.subscribe(donna, 'http://127.0.0.1:9/')
  const rotated = await gateway.call('PATCH', `/v1/wake-subscriptions/${id}`, { rotateSigningKey: true }, donna)
  const secrets = [donna.key, gateway.adminKey, signingKey, rotated.body.signingKey]
  for (const bytes of await kept(gateway.dataDir)) {
    for (const secret of secrets) {
      expect(bytes.includes(secret)).toBe(false)
      expect(bytes.includes(secret.replace(/^(rk|whsec)_/, ''))).toBe(false)
    }
  }
  expect(JSON.stringify(rotated.body.currentState)).not.toContain('whsec_')
})

test('generated keys are files that only their owner may read, and serve again after a restart', async () => {
  using directory = dataDirectory()
  const first = await startGateway({ dataDir: directory.path })
  const donna = await first.addAgent('donna')
  await first.stop()
  for (const name of ['admin.key', 'encryption.key', 'card-signing.jwk', 'instance.key']) {
    expect(statSync(join(directory.path, name)).mode & 0o777).toBe(0o600)
  }
  expect(readFileSync(join(directory.path, 'admin.key'), 'utf8')).toBe(`${first.adminKey}\n`)
  await using second = await startGateway({ dataDir: directory.path })
  expect(second.adminKey).toBe(first.adminKey)
  expect((await second.call('GET', '/v1/tasks', undefined, donna)).status).toBe(200)
})

test('a configured admin key replaces the stored one, and is not stored', async () => {
  const adminKey = 'an-admin-key-of-one-s-own'
  await using gateway = await startGateway({ env: { ROUSE_ADMIN_KEY: adminKey } })
  expect(gateway.adminKey).toBe(adminKey)
  expect((await gateway.call('GET', '/v1/agents')).status).toBe(200)
  expect(readdirSync(gateway.dataDir)).not.toContain('admin.key')
  writeFileSync(join(gateway.dataDir, 'admin.key'), 'rk_another\n')
  expect((await gateway.call('GET', '/v1/agents', undefined, { key: 'rk_another' })).status).toBe(401)
})

test('with the new encryption key first and the old one second, old subscriptions still sign', async () => {
  using directory = dataDirectory()
  await using receiver = await startReceiver()
  const [before, after] = [newEncryptionKey(), newEncryptionKey()]
  const start = (keys: string) => startGateway({ dataDir: directory.path, env: { ROUSE_ENCRYPTION_KEY: keys } })
  const first = await start(before)
  const donna = await first.addAgent('donna')
  await first.subscribe(donna, receiver.url)
  await first.stop()
  await using second = await start(`${after}, ${before}`)
  await second.send('donna', 'hello')
  expect((await receiver.waitFor(1))[0]?.headers['x-neo-wake-signature']).toMatch(/^[0-9a-f]{64}$/)
  expect(readdirSync(directory.path)).not.toContain('encryption.key')
})

// D23
test('a gateway without the encryption key of its store does not start, and names the missing key', async () => {
  using directory = dataDirectory()
  const [right, wrong] = [newEncryptionKey(), newEncryptionKey()]
  const start = (keys: string) => startGateway({ dataDir: directory.path, env: { ROUSE_ENCRYPTION_KEY: keys } })
  const first = await start(right)
  await first.subscribe(await first.addAgent('donna'), 'http://127.0.0.1:9/')
  await first.stop()
  const { keyIds } = new SecretBox([right])
  await expect(start(wrong)).rejects.toThrow(
    `sealed with another encryption key: ROUSE_ENCRYPTION_KEY does not list the key ${keyIds[0]}`,
  )
  await expect(startGateway({ dataDir: directory.path })).rejects.toThrow(join(directory.path, 'encryption.key'))
  await (await start(`${wrong} ${right}`)).stop()
  // By now both may have sealed something.
  await expect(start(right)).rejects.toThrow('sealed with another encryption key')
  await expect(start(wrong)).rejects.toThrow('sealed with another encryption key')
})

test('a store of a build that stored no key ids is scanned at its first start', async () => {
  using directory = dataDirectory()
  const [right, wrong] = [newEncryptionKey(), newEncryptionKey()]
  const start = (keys: string) => startGateway({ dataDir: directory.path, env: { ROUSE_ENCRYPTION_KEY: keys } })
  const first = await start(right)
  await first.subscribe(await first.addAgent('donna'), 'http://127.0.0.1:9/')
  await first.stop()
  await besideStore(directory.path, `delete from shared_secret where name like 'encryption-key %'`)
  await expect(start(wrong)).rejects.toThrow('sealed with another encryption key')
  await (await start(right)).stop()
})

/** All that there is of a store: its files, or the rows of its tables. */
async function kept(dataDir: string): Promise<Buffer[]> {
  if (!onPostgres) {
    const store = readdirSync(dataDir).filter((name) => name.startsWith('rouse.db'))
    expect(store).toContain('rouse.db-wal')
    return store.map((name) => readFileSync(join(dataDir, name)))
  }
  const tables = await besideStore(
    dataDir,
    'select tablename as name from pg_tables where schemaname = current_schema()',
  )
  const rows = await Promise.all(tables.map(({ name }) => besideStore(dataDir, `select * from ${name}`)))
  expect(JSON.stringify(rows)).toContain('@donna')
  return [Buffer.from(JSON.stringify(rows))]
}
