import { expect, test } from 'vitest'
import type { Logger } from '../../src/logger.ts'
import { startGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { besideStore } from '../support/store.ts'

test('health needs no key, says what is ready, and knows HEAD', async () => {
  await using gateway = await startGateway()
  const health = await gateway.call('GET', '/healthz', undefined, { key: null })
  expect([health.status, health.body]).toEqual([200, { status: 'ok' }])
  const ready = await gateway.call('GET', '/readyz', undefined, { key: null })
  expect([ready.status, ready.body]).toEqual([200, { status: 'ready', store: true, dispatcher: true }])
  expect((await gateway.call('HEAD', '/healthz', undefined, { key: null })).status).toBe(200)
})

test('a gateway whose store cannot be read is alive, and not ready until it can', async () => {
  await using gateway = await startGateway()
  const ready = async () => {
    const { status, body } = await gateway.call('GET', '/readyz', undefined, { key: null })
    return [status, body.status, body.store]
  }
  await besideStore(gateway.dataDir, 'alter table project rename to misplaced')
  expect(await ready()).toEqual([503, 'not-ready', false])
  expect((await gateway.call('GET', '/healthz', undefined, { key: null })).status).toBe(200)
  await besideStore(gateway.dataDir, 'alter table misplaced rename to project')
  expect(await ready()).toEqual([200, 'ready', true])
})

test('OPTIONS and a wrong method tell what a path supports', async () => {
  await using gateway = await startGateway()
  const options = await gateway.call('OPTIONS', '/v1/agents/donna')
  expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, PATCH, DELETE, HEAD, OPTIONS'])
  const wrong = await gateway.call('PUT', '/v1/agents/donna')
  expect(wrong.body).toMatchObject({ status: 405, allowed: ['GET', 'PATCH', 'DELETE'] })
})

test('HEAD answers as GET without a body, with the version of a task', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('donna')
  const task = await gateway.send('donna', 'hello')
  const head = await gateway.call('HEAD', `/v1/tasks/${task.id}`)
  expect([head.status, head.body, head.headers.get('etag')]).toEqual([200, '', '"1"'])
})

test('a task is answered in full with If-None-Match: its version says nothing of its artifacts', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('donna')
  const task = await gateway.send('donna', 'hello')
  const again = await gateway.call('GET', `/v1/tasks/${task.id}`, undefined, { headers: { 'if-none-match': '"1"' } })
  expect([again.status, again.headers.get('cache-control')]).toEqual([200, 'no-store'])
})

test('what there is none of is an empty list', async () => {
  await using gateway = await startGateway()
  for (const [path, name] of [
    ['agents', 'agents'],
    ['tasks', 'tasks'],
    ['permissions', 'permissions'],
    ['wake-subscriptions', 'subscriptions'],
    ['events', 'events'],
  ] as const) {
    expect((await gateway.call('GET', `/v1/${path}`)).body[name]).toEqual([])
  }
})

test('a POST whose fields are all optional needs no body, with and without a content type', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('donna')
  const types: Record<string, string>[] = [{}, { 'content-type': 'application/json' }, { 'content-type': 'text/plain' }]
  for (const headers of types) {
    expect((await gateway.call('POST', '/v1/agents/donna/keys', undefined, { headers })).status).toBe(201)
  }
  for (const type of ['application/merge-patch+json', 'application/json; charset=utf-8']) {
    const headers = { 'content-type': type }
    const patched = await gateway.call('PATCH', '/v1/agents/donna', { description: type }, { headers })
    expect(patched.body.description).toBe(type)
  }
})

test('deliveries come newest first, a page at a time, and the last page says so', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, receiver.url)
  for (let n = 0; n < 4; n++) await gateway.send('donna', `message ${n}`)
  await receiver.waitFor(4)
  await gateway.call('PATCH', `/v1/wake-subscriptions/${id}`, { status: 'paused' }, donna)
  const read = (query: string) =>
    gateway.call('GET', `/v1/wake-subscriptions/${id}/deliveries?${query}`, undefined, donna)
  const first = (await read('limit=2')).body
  const second = (await read(`limit=2&pageToken=${first.nextPageToken}`)).body
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
  await gateway.send('donna', 'hello', { key: donna.key })
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
  const { body } = await gateway.call('GET', `/v1/wake-subscriptions/${id}`, undefined, donna)
  expect(body.filters.senderFilter).toEqual(['@mike', '@lola'])
  await gateway.send('donna', 'from mike', { key: mike.key })
  expect((await receiver.waitFor(1))[0]!.body.payload.from).toBe('@mike')
  const patched = await gateway.call(
    'PATCH',
    `/v1/wake-subscriptions/${id}`,
    { filters: { senderFilter: ['lola'] } },
    donna,
  )
  expect(patched.body.currentState.filters.senderFilter).toEqual(['@lola'])
})
