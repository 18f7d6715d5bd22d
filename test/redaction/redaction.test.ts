import { randomBytes } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { connect, dialects, saying } from '../a2a/connect.ts'
import { bearer, rawClient } from '../grpc/raw-client.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { startIssuer } from '../support/issuer.ts'
import { startProcessGateway } from '../support/process-gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { onPostgres, storeEnv } from '../support/store.ts'
import { until } from '../support/until.ts'
import { runBridge } from './bridge-part.ts'
import { runMcp } from './mcp-part.ts'
import { Run } from './run.ts'
import { SecretWatch } from './secrets.ts'
import { runStreams } from './streams-part.ts'
import { runTls } from './tls-part.ts'
import { runTokens, trusting } from './tokens-part.ts'

const random = (name: string): string => `${name}-${randomBytes(18).toString('base64url')}`
const newEncryptionKey = (): string => randomBytes(32).toString('base64')

/** Answers with everything that it was sent, as a careless receiver does. */
function echo(status: number) {
  return (wake: { headers: object; raw: string }, res: { statusCode: number; end: (text: string) => void }) => {
    res.statusCode = status
    res.end(JSON.stringify({ refused: wake.headers, body: wake.raw }))
  }
}

test('no secret appears anywhere: logs, answers, wakes, errors, the store, command lines', async () => {
  using scratch = dataDirectory()
  await using issuer = await startIssuer()
  await using stranger = await startIssuer()
  const levels = { ROUSE_LOG_LEVEL: 'debug', ROUSE_MESSAGES_PER_MINUTE: '0', ROUSE_WRONG_KEYS_PER_MINUTE: '0' }
  await using gateway = await startProcessGateway({ ...levels, ...trusting(issuer) })
  await using wakes = await startReceiver()
  await using pushes = await startReceiver()
  await using careless = await startReceiver(echo(500))
  const run = new Run(gateway, scratch.path)
  const { watch } = run
  watch.secret('the admin key', gateway.adminKey)
  run.secretsOfFiles()
  const admin = gateway.adminKey

  // Agents, keys, a key that is taken away.
  const donna = (await run.call('POST', '/v1/agents', { handle: 'donna' }, admin, 'apiKey')).apiKey
  const lola = (await run.call('POST', '/v1/agents', { handle: 'lola' }, admin, 'apiKey')).apiKey
  const extra = await run.call('POST', '/v1/agents/donna/keys', { label: 'laptop' }, donna, 'apiKey')
  await run.call('DELETE', `/v1/agents/donna/keys/${extra.keyId}`, undefined, donna)
  await run.call('GET', '/v1/tasks', undefined, extra.apiKey)
  const viewer = await run.call('POST', '/v1/operator-keys', { role: 'viewer', label: 'Ines' }, admin, 'operatorKey')
  for (const path of ['operator-keys', 'agents', 'events']) {
    await run.call('GET', `/v1/${path}`, undefined, viewer.operatorKey)
  }

  // Subscriptions, a rotation, receivers that fail and say what they were sent.
  // Receivers' paths are often secret: their owner reads them back, a log never has them.
  const hook = random('hook')
  const subscribe = (url: string, trigger: string) =>
    run.call(
      'POST',
      '/v1/wake-subscriptions',
      { trigger, harnessTarget: 'a2a-webhook', harnessTargetMetadata: { url, coalesceWindow: 0, includeOwn: true } },
      donna,
      'signingKey',
    )
  const { subscriptionId } = await subscribe(wakes.url, 'TASK_STATE_CHANGED')
  const failing = await subscribe(careless.url + hook, 'SENT_TO_ME')
  const rotate = { rotateSigningKey: true, overlapSeconds: 3600 }
  await run.call('PATCH', `/v1/wake-subscriptions/${subscriptionId}`, rotate, donna, 'signingKey')
  await run.call('POST', `/v1/wake-subscriptions/${subscriptionId}/test`, {}, donna)
  await run.call('POST', `/v1/wake-subscriptions/${failing.subscriptionId}/test`, {}, donna)

  // Mail, and A2A on every binding, each with a push config that has a token and credentials.
  await run.call('POST', '/v1/messages', { to: '@donna', subject: 'Hello', body: 'There?' }, lola)
  await run.call('GET', '/v1/inbox', undefined, donna)
  const carried: string[] = []
  for (const dialect of dialects) {
    const what = `${dialect.binding} ${dialect.version}`
    const token = watch.secret(`the token of a push over ${what}`, random('token'))
    const credentials = watch.secret(`the credentials of a push over ${what}`, random('credentials'))
    carried.push(token, credentials)
    const client = await connect(gateway, { handle: '@donna' }, lola, dialect)
    const url = dialect.binding === 'JSONRPC' ? careless.url : pushes.url
    const config = { url, token, authentication: { scheme: 'Bearer', credentials } }
    const sent = await client.sendMessage(
      saying(`over ${what}`, {}, { returnImmediately: true, taskPushNotificationConfig: config }),
    )
    watch.emit(`the answer to a send over ${what}`, JSON.stringify(sent), [token, credentials])
  }
  const { tasks } = await run.call('GET', '/v1/tasks?role=originator', undefined, lola)
  expect(tasks).toHaveLength(dialects.length)
  for (const { id, version } of tasks) {
    await run.call('POST', `/v1/tasks/${id}/transitions`, { to: 'working', expectedVersion: version }, donna)
  }
  await pushes.waitFor(1, 30_000)
  await wakes.waitFor(dialects.length, 30_000)
  const deliveries = `/v1/wake-subscriptions/${failing.subscriptionId}/deliveries`
  await until(
    async () => (await run.call('GET', deliveries, undefined, donna)).deliveries,
    (list) => list.length > 0,
    30_000,
  )

  // Wrong keys on every front, and keys in the wrong place.
  const typo = watch.secret('a key with a slip of the pen', `${donna.slice(0, -4)}QQQQ`)
  const misplaced = watch.secret('a key in a query', random('misplaced'))
  await run.call('GET', '/v1/tasks', undefined, typo)
  await run.call('POST', '/agents/donna', { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'x' } }, typo)
  await run.call('GET', '/agents/donna/tasks/x', undefined, typo)
  await run.call('GET', `/v1/tasks?apiKey=${misplaced}`, undefined, donna)
  await run.call('POST', '/v1/agents', { handle: 'x', apiKey: misplaced }, admin)
  using grpc = rawClient(gateway.grpcTarget)
  const refused = await grpc.unary('getTask', { tenant: 'agents/donna', id: 'x' }, bearer(typo))
  watch.emit('the answer to gRPC with a wrong key', JSON.stringify(refused))

  await runMcp(run, donna, typo, misplaced)
  await runTokens(run, issuer, stranger, admin)
  await runStreams(run, donna, lola, typo, misplaced)
  await runBridge(run, admin, lola)
  await runTls(run)

  // Answers that every caller, and the operator, can read.
  for (const path of ['/.well-known/jwks.json', '/agents/donna/.well-known/agent-card.json', '/readyz']) {
    await run.call('GET', path, undefined, lola)
  }
  for (const path of ['agents', 'agents/donna', 'agents/donna/keys', 'wake-subscriptions', 'catalog', 'permissions']) {
    await run.call('GET', `/v1/${path}`, undefined, admin)
  }
  await run.call('GET', '/v1/events?since=0&limit=1000', undefined, admin)

  // The command line: with files, with wrong keys, with rotations.
  const keyFile = join(run.scratch, 'donna.key')
  writeFileSync(keyFile, `${donna}\n`, { mode: 0o600 })
  const saved = join(run.scratch, 'mike.key')
  const local = { ROUSE_DATA_DIR: gateway.dataDir, ...(await storeEnv(gateway.dataDir)) }
  expect(await run.rouse(['inbox', '--key-file', keyFile])).toMatchObject({ code: 0 })
  expect(await run.rouse(['sub', 'list', '--json'], { ROUSE_KEY_FILE: keyFile })).toMatchObject({ code: 0 })
  expect(await run.rouse(['agent', 'add', '@mike', '--save-key', saved], local)).toMatchObject({ code: 0 })
  watch.secret("mike's key", readFileSync(saved, 'utf8').trim())
  expect(await run.rouse(['inbox'], { ROUSE_KEY: typo })).toMatchObject({ code: 1 })
  expect(await run.rouse(['admin-key', 'rotate'], local)).toMatchObject({ code: 0 })
  expect(await run.rouse(['card-key', 'rotate', '--now'], local)).toMatchObject({ code: 0 })
  run.secretsOfFiles()
  const rotated = readFileSync(join(gateway.dataDir, 'admin.key'), 'utf8').trim()
  expect(rotated).not.toBe(admin)
  await run.call('GET', '/v1/agents', undefined, rotated)

  // Starts that fail on what they were given.
  const [password, short] = [watch.secret('a password', random('pass')), watch.secret('a short key', 'rk-too-short-x')]
  const wrongKey = watch.secret('another encryption key', newEncryptionKey())
  const bad = {
    ROUSE_ADMIN_KEY: short,
    ROUSE_ENCRYPTION_KEY: `${wrongKey}x`,
    ROUSE_DATABASE_URL: `mysql://u:${password}@h/d`,
  }
  const start = ['serve', '--port', '0', '--grpc-port', '0', '--data-dir', join(run.scratch, 'none')]
  expect(await run.rouse(start, bad)).toMatchObject({ code: 2 })
  const unreachable = { ROUSE_DATABASE_URL: `postgres://u:${password}@127.0.0.1:1/d` }
  expect(await run.rouse(start, unreachable)).toMatchObject({ code: 1 })

  // A crash, a start with another key, a new encryption key, a start with that.
  await run.end('SIGKILL')
  await run.store()
  const refusedStart = ['serve', '--port', '0', '--grpc-port', '0', '--data-dir', gateway.dataDir]
  expect(await run.rouse(refusedStart, { ...local, ROUSE_ENCRYPTION_KEY: wrongKey })).toMatchObject({ code: 1 })
  const rekey = onPostgres
    ? await run.rouse(['rekey', '--json'], local)
    : await run.rouse(['rekey', '--new-key'], local)
  expect(rekey).toMatchObject({ code: 0 })
  run.secretsOfFiles()
  await gateway.restart()
  const before = wakes.wakes.length
  const [task] = (await run.call('GET', '/v1/tasks?role=originator', undefined, lola)).tasks
  await run.call('POST', `/v1/tasks/${task.id}/transitions`, { to: 'completed', expectedVersion: task.version }, donna)
  await wakes.waitFor(before + 1, 30_000)
  await run.end('SIGTERM')
  await run.store()

  run.arrivals(wakes, 'a wake', [])
  run.arrivals(pushes, 'a push', carried)
  run.arrivals(careless, 'a wake or a push to a careless receiver', carried)
  rmSync(saved)
  expect(watch.size.secrets).toBeGreaterThan(25)
  expect(watch.size.emitted).toBeGreaterThan(80)
  expect(run.logs.join('')).toContain('auth.failed')
  expect(run.logs.join('')).not.toContain(hook)
  expect(watch.leaks()).toEqual([])
}, 240_000)

test('the watch finds a secret in every form that it can take', () => {
  const key = `rk_${randomBytes(32).toString('base64url')}`
  const bytes = Buffer.from(key)
  const spoken = [
    key,
    key.slice(3),
    bytes.toString('base64'),
    Buffer.from(`user:${key}:x`).toString('base64'),
    Buffer.from(`us:${key}`).toString('base64url'),
    bytes.toString('hex'),
    Buffer.from(key.slice(3), 'base64url').toString('hex'),
    encodeURIComponent(`${key}&x=/`),
  ]
  for (const text of spoken) {
    const watch = new SecretWatch()
    watch.secret('a key', key)
    watch.emit('a place', `{"level":30,"msg":"before ${text} after"}`)
    expect(watch.leaks(), text).toHaveLength(1)
    const allowed = new SecretWatch()
    allowed.secret('a key', key)
    allowed.emit('its own answer', text, [key])
    expect(allowed.leaks()).toEqual([])
  }
})
