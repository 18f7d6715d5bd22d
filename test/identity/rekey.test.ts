import { createHmac, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newApiKey, SecretBox } from '../../src/security/secret.ts'
import { run } from '../cli/terminal.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { logLines } from '../support/log-lines.ts'
import { startReceiver } from '../support/receiver.ts'
import { besideStore, onPostgres, storeEnv } from '../support/store.ts'

const newKey = (): string => randomBytes(32).toString('base64')
const idOf = (key: string): string => new SecretBox([key]).keyIds[0]!

async function rekey(dataDir: string, env: Record<string, string>, ...flags: string[]) {
  const result = await run(['rekey', '--json', ...flags], {
    ROUSE_DATA_DIR: dataDir,
    ...(await storeEnv(dataDir)),
    ...env,
  })
  return { ...result, report: result.stdout ? JSON.parse(result.stdout) : undefined }
}

/** A task of lola's for donna whose changes are pushed to `url` with a token and credentials. */
async function sendWithPush(gateway: TestGateway, lola: TestAgent, url: string) {
  const authentication = { scheme: 'Basic', credentials: 'bG9sYTpzZWNyZXQ=' }
  const configuration = { taskPushNotificationConfig: { url, token: 'a token of lola', authentication } }
  return gateway.send('donna', 'hello', { key: lola.key, configuration })
}

async function sealedWith(dataDir: string): Promise<string[]> {
  const rows = await besideStore(dataDir, 'select signing_key, former_keys, target from subscription')
  const shared = await besideStore(dataDir, 'select sealed from shared_secret')
  const text = JSON.stringify([rows, shared])
  return [...new Set([...text.matchAll(/([0-9a-f]{8})\.[\w-]{16}\.[\w-]+/g)].map((match) => match[1]!))]
}

test('everything is sealed with the newest key; with only that key wakes are signed and pushes have their secrets as before', async () => {
  using directory = dataDirectory()
  await using wakes = await startReceiver()
  await using pushes = await startReceiver()
  const [before, after] = [newKey(), newKey()]
  const start = (keys: string) => startGateway({ dataDir: directory.path, env: { ROUSE_ENCRYPTION_KEY: keys } })
  const first = await start(before)
  const donna = await first.addAgent('donna')
  const lola = await first.addAgent('lola')
  const { id, signingKey } = await first.subscribe(donna, wakes.url, { harnessTargetMetadata: { includeOwn: true } })
  const rotated = await first.call(
    'PATCH',
    `/v1/wake-subscriptions/${id}`,
    { rotateSigningKey: true, overlapSeconds: 3600 },
    donna,
  )
  const task = await sendWithPush(first, lola, pushes.url)
  await pushes.waitFor(1)
  await wakes.waitFor(1)
  const { body: webPush } = await first.call('GET', '/v1/push')
  await first.stop()

  const { code, report, stderr } = await rekey(directory.path, { ROUSE_ENCRYPTION_KEY: `${after} ${before}` })
  expect(code, stderr).toBe(0)
  expect(report).toMatchObject({
    keyId: idOf(after),
    resealed: { signingKeys: 1, previousKeys: 1, pushTokens: 1, pushCredentials: 1 },
    unreadable: {},
    unneeded: [idOf(before)],
  })
  expect(await sealedWith(directory.path)).toEqual([idOf(after)])

  await using second = await start(after)
  expect((await second.call('GET', '/v1/push')).body.publicKey).toBe(webPush.publicKey)
  await second.move(donna, task.id, 'working')
  const wake = (await wakes.waitFor(2))[1]!
  const hmac = (key: string) => createHmac('sha256', key).update(wake.raw).digest('hex')
  expect(wake.headers['x-neo-wake-signature']).toBe(hmac(rotated.body.signingKey))
  expect(wake.headers['x-neo-wake-signature-previous']).toBe(hmac(signingKey))
  const push = (await pushes.waitFor(2))[1]!
  expect(push.headers['x-a2a-notification-token']).toBe('a token of lola')
  expect(push.headers.authorization).toBe('Basic bG9sYTpzZWNyZXQ=')
})

test('a second run has nothing to do, and many subscriptions are processed in steps', async () => {
  using directory = dataDirectory()
  const [before, after] = [newKey(), newKey()]
  const first = await startGateway({ dataDir: directory.path, env: { ROUSE_ENCRYPTION_KEY: before } })
  const donna = await first.addAgent('donna')
  for (let i = 0; i < 4; i++) await first.subscribe(donna, 'http://127.0.0.1:9/')
  await first.stop()
  await besideStore(
    directory.path,
    `insert into subscription (id, kind, project_id, agent_id, audience, filters, harness_target, target, coalesce_ms, signing_key,
       status, cursor_log_id, created_at, updated_at)
     select s.id || '-' || a.n || b.n, s.kind, s.project_id, s.agent_id, s.audience, s.filters, s.harness_target, s.target, 0, null,
       s.status, 0, 0, 0 from subscription s, ${numbers('a')}, ${numbers('b')}`,
  )
  const env = { ROUSE_ENCRYPTION_KEY: `${after} ${before}` }
  expect((await rekey(directory.path, env)).report.resealed.signingKeys).toBe(4)
  const again = await rekey(directory.path, env)
  expect(again.report).toMatchObject({ resealed: { signingKeys: 0, sharedSecrets: 0 }, unneeded: [] })
})

const numbers = (name: string): string =>
  `(${Array.from({ length: 10 }, (_, n) => `select '${n}' as n`).join(' union all ')}) ${name}`

test('secrets of a lost key are counted and refused; after they are abandoned the gateway starts and makes a new signing key', async () => {
  using directory = dataDirectory()
  await using receiver = await startReceiver()
  const [lost, after] = [newKey(), newKey()]
  const start = (keys: string) => startGateway({ dataDir: directory.path, env: { ROUSE_ENCRYPTION_KEY: keys } })
  const first = await start(lost)
  const donna = await first.addAgent('donna')
  const { id } = await first.subscribe(donna, receiver.url)
  await first.stop()

  const refused = await rekey(directory.path, { ROUSE_ENCRYPTION_KEY: after })
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain(`with ${idOf(lost)}`)
  await expect(start(after)).rejects.toThrow('sealed with another encryption key')

  const abandoned = await rekey(directory.path, { ROUSE_ENCRYPTION_KEY: after }, '--abandon-lost')
  expect(abandoned.code, abandoned.stderr).toBe(0)
  // The signing key is still sealed with the lost key: somebody may find it.
  expect(abandoned.report).toMatchObject({ unreadable: { [idOf(lost)]: expect.any(Number) }, unneeded: [] })
  if (onPostgres) {
    const [row] = await besideStore(directory.path, `select sealed from shared_secret where name = 'store-name'`)
    expect(row?.sealed).toMatch(new RegExp(`^${idOf(after)}\\.`))
  }
  await using second = await start(after)
  const rotate = { rotateSigningKey: true, overlapSeconds: 0 }
  expect((await second.call('PATCH', `/v1/wake-subscriptions/${id}`, rotate, donna)).status).toBe(200)
  await second.send('donna', 'hello')
  await receiver.waitFor(1)
})

if (onPostgres) {
  test('gateways continue to send, change and seal while it runs, with both keys', async () => {
    using directory = dataDirectory()
    await using receiver = await startReceiver()
    const [before, after] = [newKey(), newKey()]
    const first = await startGateway({ dataDir: directory.path, env: { ROUSE_ENCRYPTION_KEY: before } })
    const donna = await first.addAgent('donna')
    const subs = [await first.subscribe(donna, receiver.url), await first.subscribe(donna, receiver.url)]
    await first.stop()

    const env = { ROUSE_ENCRYPTION_KEY: `${after} ${before}` }
    await using second = await startGateway({ dataDir: directory.path, env })
    const rotate = (id: string) =>
      second.call('PATCH', `/v1/wake-subscriptions/${id}`, { rotateSigningKey: true, overlapSeconds: 600 }, donna)
    const [rekeyed, rotated] = await Promise.all([
      rekey(directory.path, env),
      rotate(subs[0]!.id),
      second.send('donna', 'one'),
      second.subscribe(donna, receiver.url),
    ])
    expect(rekeyed.code, rekeyed.stderr).toBe(0)
    expect(await sealedWith(directory.path)).toEqual([idOf(after)])
    await second.stop()

    const seen = receiver.wakes.length
    await using third = await startGateway({ dataDir: directory.path, env: { ROUSE_ENCRYPTION_KEY: after } })
    await third.send('donna', 'two')
    const wakes = (await receiver.waitFor(seen + 3)).slice(seen)
    const mine = wakes.find(({ body }) => body.subscriptionId === subs[0]!.id)!
    expect(mine.headers['x-neo-wake-signature']).toBe(
      createHmac('sha256', rotated.body.signingKey).update(mine.raw).digest('hex'),
    )
  })

  const sharedIn = (dataDir: string) => besideStore(dataDir, 'select name, sealed from shared_secret order by name')

  test('a key that no running gateway encrypts with seals nothing: wakes, keys and refusals stay as they are', async () => {
    await using receiver = await startReceiver()
    const [before, after] = [newKey(), newKey()]
    await using gateway = await startGateway({ env: { ROUSE_ENCRYPTION_KEY: before } })
    const donna = await gateway.addAgent('donna')
    await gateway.subscribe(donna, receiver.url)
    const shared = await sharedIn(gateway.dataDir)
    const env = {
      ROUSE_DATA_DIR: gateway.dataDir,
      ...(await storeEnv(gateway.dataDir)),
      ROUSE_ENCRYPTION_KEY: `${after} ${before}`,
    }
    // Twice: a command that was refused must not be the one that lets the next one pass.
    for (const argv of [['rekey'], ['rekey'], ['admin-key', 'rotate'], ['card-key', 'rotate']]) {
      const { code, stdout, stderr } = await run(argv, env)
      expect([code, stdout, stderr]).toEqual([
        1,
        '',
        expect.stringContaining(`do not encrypt with the key ${idOf(after)}`),
      ])
    }
    expect(await sharedIn(gateway.dataDir)).toEqual(shared)
    expect(await sealedWith(gateway.dataDir)).toEqual([idOf(before)])
    await gateway.send('donna', 'hello')
    await receiver.waitFor(1)
    expect((await gateway.call('GET', '/v1/agents')).status).toBe(200)
  })

  test('where the stored admin key cannot be read, an unknown key is refused as anywhere', async () => {
    const { log, of } = logLines('warn')
    await using gateway = await startGateway({ overrides: { log } })
    const broken = new SecretBox([newKey()]).seal(newApiKey(), 'admin-key')
    await besideStore(gateway.dataDir, `update shared_secret set sealed = ? where name = 'admin-key'`, broken)
    const key = newApiKey()
    expect((await gateway.call('GET', '/v1/agents', undefined, { key })).status).toBe(401)
    expect(of('keys.admin_unread')).toHaveLength(1)
    expect((await gateway.call('GET', '/v1/agents')).status).toBe(200)
  })

  test('nothing is abandoned while a gateway runs, or without a key, and no key is made', async () => {
    using directory = dataDirectory()
    using empty = dataDirectory()
    const right = newKey()
    const start = () => startGateway({ dataDir: directory.path, env: { ROUSE_ENCRYPTION_KEY: right } })
    const first = await start()
    await first.subscribe(await first.addAgent('donna'), 'http://127.0.0.1:9/')
    const shared = await sharedIn(directory.path)
    const env = { ROUSE_DATA_DIR: empty.path, ...(await storeEnv(directory.path)) }
    const refused = async (message: string, more: Record<string, string> = {}) => {
      const { code, stdout, stderr } = await run(['rekey', '--abandon-lost'], { ...env, ...more })
      expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(message)])
      expect(readdirSync(empty.path)).toEqual([])
      expect(await sharedIn(directory.path)).toEqual(shared)
    }
    await refused('A gateway of this store runs')
    await refused('A gateway of this store runs', { ROUSE_ENCRYPTION_KEY: newKey() })
    await first.stop()
    await refused('set ROUSE_ENCRYPTION_KEY')
    // A gateway that crashed counts until the others would take over.
    const crashed = (agoMs: number) =>
      besideStore(
        directory.path,
        'insert into gateway (id, started_at, seen_at) values (?, 0, ?)',
        `g${agoMs}`,
        Date.now() - agoMs,
      )
    await crashed(5_000)
    await refused('A gateway of this store runs', { ROUSE_ENCRYPTION_KEY: newKey() })
    await besideStore(directory.path, 'delete from gateway')
    await crashed(21_000)
    expect((await run(['rekey', '--abandon-lost'], { ...env, ROUSE_ENCRYPTION_KEY: right })).code).toBe(0)
    await (await start()).stop()
  })

  test('a key of its own is not made for gateways that share a store', async () => {
    using directory = dataDirectory()
    await using _gateway = await startGateway({ dataDir: directory.path })
    const { code, stderr } = await rekey(directory.path, {}, '--new-key')
    expect([code, stderr]).toEqual([2, expect.stringContaining('ROUSE_ENCRYPTION_KEY')])
  })
} else {
  const keyOf = (dataDir: string, name = 'encryption.key') => readFileSync(join(dataDir, name), 'utf8').trim()

  test('a new key replaces the generated one', async () => {
    using directory = dataDirectory()
    await using receiver = await startReceiver()
    const first = await startGateway({ dataDir: directory.path })
    const donna = await first.addAgent('donna')
    const { signingKey } = await first.subscribe(donna, receiver.url)
    const running = await rekey(directory.path, {}, '--new-key')
    expect([running.code, running.stderr]).toEqual([1, expect.stringContaining('Another gateway is running')])
    await first.stop()
    const before = keyOf(directory.path)

    expect((await rekey(directory.path, {}, '--new-key')).code).toBe(0)
    expect(keyOf(directory.path)).not.toBe(before)
    expect(existsSync(join(directory.path, 'encryption.key.next'))).toBe(false)
    await using second = await startGateway({ dataDir: directory.path })
    await second.send('donna', 'hello')
    const [wake] = await receiver.waitFor(1)
    const expected = createHmac('sha256', signingKey).update(wake!.raw).digest('hex')
    expect(wake!.headers['x-neo-wake-signature']).toBe(expected)
  })

  test('interrupted between the new key and the last secret, the gateway starts with both, and the next run ends it', async () => {
    using directory = dataDirectory()
    await using receiver = await startReceiver()
    const first = await startGateway({ dataDir: directory.path })
    const donna = await first.addAgent('donna')
    await first.subscribe(donna, receiver.url)
    await first.stop()
    const before = keyOf(directory.path)
    expect((await rekey(directory.path, {}, '--new-key')).code).toBe(0)
    // As a crash before the new key took the place of the old one leaves it.
    renameSync(join(directory.path, 'encryption.key'), join(directory.path, 'encryption.key.next'))
    writeFileSync(join(directory.path, 'encryption.key'), before, { mode: 0o600 })

    const second = await startGateway({ dataDir: directory.path })
    await second.subscribe(donna, receiver.url)
    await second.send('donna', 'hello')
    await receiver.waitFor(2)
    await second.stop()
    expect((await rekey(directory.path, {})).code).toBe(0)
    expect(existsSync(join(directory.path, 'encryption.key.next'))).toBe(false)
    await (await startGateway({ dataDir: directory.path })).stop()
  })

  test('a given key is not replaced by a made one', async () => {
    using directory = dataDirectory()
    const env = { ROUSE_ENCRYPTION_KEY: newKey() }
    await (await startGateway({ dataDir: directory.path, env })).stop()
    const { code, stderr } = await rekey(directory.path, env, '--new-key')
    expect([code, stderr]).toEqual([2, expect.stringContaining('put a new key first in it')])
  })
}
