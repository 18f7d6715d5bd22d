import { expect, test } from 'vitest'
import { readVersion } from '../../src/lib/version.ts'
import type { Logger } from '../../src/logger/logger.ts'
import { startGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { restAs } from '../support/rest.ts'
import { besideStore } from '../support/store.ts'
import { until } from '../support/until.ts'

test('health needs no key, reports what is ready, and answers HEAD', async () => {
  await using gateway = await startGateway()
  const rest = restAs(gateway, null)
  await rest.get('/healthz').expect(200, { status: 'ok' })
  await rest.get('/readyz').expect(200, {
    status: 'ready',
    version: readVersion(),
    store: true,
    writes: true,
    dispatcher: true,
    clock: true,
  })
  await rest.head('/healthz').expect(200)
})

test('a gateway whose store cannot be read is alive, but not ready', async () => {
  await using gateway = await startGateway()
  const rest = restAs(gateway, null)
  await besideStore(gateway.dataDir, 'alter table project rename to misplaced')
  const { body } = await rest.get('/readyz').expect(503)
  expect(body).toMatchObject({ status: 'not-ready', store: false, writes: true })
  await rest.get('/healthz').expect(200)
  await besideStore(gateway.dataDir, 'alter table misplaced rename to project')
  await until(
    () => rest.get('/readyz'),
    ({ status }) => status === 200,
  )
})

test('OPTIONS and a wrong method list the methods of a path', async () => {
  await using gateway = await startGateway()
  const rest = restAs(gateway)
  await rest.options('/v1/agents/donna').expect(204).expect('allow', 'GET, PATCH, DELETE, HEAD, OPTIONS')
  const { body } = await rest.put('/v1/agents/donna').expect(405)
  expect(body).toMatchObject({
    detail: '/v1/agents/donna does not support PUT. It supports GET, PATCH, DELETE.',
    allowed: ['GET', 'PATCH', 'DELETE'],
  })
  await rest.get('/v1/wake-subscriptions/some/replay').expect(405).expect('allow', 'POST, OPTIONS')
})

test('HEAD answers as GET without a body, with the version of a task', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('donna')
  const task = await gateway.send('donna', 'hello')
  const head = await restAs(gateway).head(`/v1/tasks/${task.id}`).expect(200).expect('etag', '"1"')
  expect(head.text).toBeUndefined()
})

test('a task is answered in full with If-None-Match, because its version does not cover artifacts', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('donna')
  const task = await gateway.send('donna', 'hello')
  // Not with fetch: it adds Cache-Control: no-cache, which takes the condition back.
  const again = restAs(gateway).get(`/v1/tasks/${task.id}`).set('if-none-match', '"1"')
  await again.expect(200).expect('cache-control', 'no-store')
})

test('a list without items is an empty list', async () => {
  await using gateway = await startGateway()
  for (const [path, name] of [
    ['agents', 'agents'],
    ['tasks', 'tasks'],
    ['permissions', 'permissions'],
    ['wake-subscriptions', 'subscriptions'],
    ['events', 'events'],
  ] as const) {
    expect((await restAs(gateway).get(`/v1/${path}`)).body[name]).toEqual([])
  }
})

test('a POST whose fields are all optional needs no body, with and without a content type', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('donna')
  const types: Record<string, string>[] = [{}, { 'content-type': 'application/json' }, { 'content-type': 'text/plain' }]
  for (const headers of types) {
    await restAs(gateway).post('/v1/agents/donna/keys').set(headers).expect(201)
  }
  for (const type of ['application/merge-patch+json', 'application/json; charset=utf-8']) {
    const change = restAs(gateway).patch('/v1/agents/donna').set('content-type', type)
    expect((await change.send(JSON.stringify({ description: type }))).body.description).toBe(type)
  }
})

test('deliveries are listed newest first, in pages, and the last page has no token', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url)
  for (let n = 0; n < 4; n++) await gateway.send('donna', `message ${n}`)
  await receiver.waitFor(4)
  await restAs(gateway, donna).patch(`/v1/wake-subscriptions/${id}`).send({ status: 'paused' }).expect(200)
  const read = async (query: object) =>
    (await restAs(gateway, donna).get(`/v1/wake-subscriptions/${id}/deliveries`).query(query)).body
  const first = await read({ limit: 2 })
  const second = await read({ limit: 2, pageToken: first.nextPageToken })
  const logIds = [...first.deliveries, ...second.deliveries].map((delivery) => delivery.logIds[0])
  expect(logIds).toEqual([...logIds].sort((a, b) => b - a))
  expect([logIds.length, second.nextPageToken]).toEqual([4, ''])
})

test('no key and no signing key is ever logged, and a client error is not logged as a failure', async () => {
  const lines: string[] = []
  const keep = (level: string) => (fields: object, event: string) => {
    const { err, ...rest } = fields as { err?: Error }
    lines.push(JSON.stringify({ level, event, ...rest, err: err && `${err.message} ${err.stack} ${err.cause}` }))
  }
  const log: Logger = { debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') }
  await using gateway = await startGateway({ overrides: { log } })
  await using receiver = await startReceiver(400)
  const donna = await gateway.addAgent('donna')
  const { id, signingKey } = await gateway.subscribe(donna, receiver.url)
  await gateway.send('donna', 'hello')
  await receiver.waitFor(1)
  await gateway.call('POST', `/v1/wake-subscriptions/${id}/test`, undefined, donna)
  await gateway.call('POST', '/v1/agents', { handle: donna.key }, { key: donna.key })
  await gateway.call('POST', '/v1/agents', `{"broken": "${donna.key}`, {})
  await gateway.call('GET', `/v1/tasks?pageToken=${donna.key}`)
  await gateway.call('GET', '/v1/tasks', undefined, { key: `${donna.key}x` })
  await gateway.stop()
  const text = lines.join('\n')
  for (const secret of [donna.key, gateway.adminKey, signingKey]) expect(text).not.toContain(secret)
  expect(text).not.toContain('request.failed')
})

test('senders of a filter are written with their @, given with or without it', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  const { id } = await gateway.subscribe(donna, receiver.url, {
    trigger: 'SENT_TO_ME',
    filters: { senderFilter: ['mike', '@lola'] },
  })
  const rest = restAs(gateway, donna)
  const { body } = await rest.get(`/v1/wake-subscriptions/${id}`)
  expect(body.filters.senderFilter).toEqual(['@mike', '@lola'])
  await gateway.send('donna', 'from mike', { key: mike.key })
  expect((await receiver.waitFor(1))[0]!.body.payload.from).toBe('@mike')
  const change = { filters: { senderFilter: ['lola'] } }
  const patched = await rest.patch(`/v1/wake-subscriptions/${id}`).send(change)
  expect(patched.body.currentState.filters.senderFilter).toEqual(['@lola'])
})
