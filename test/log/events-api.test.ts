import { expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { besideStore } from '../support/store.ts'

const page = async (gateway: TestGateway, query: string, key?: string) =>
  (await gateway.call('GET', `/v1/events${query}`, undefined, key ? { key } : {})).body
const idsOf = (events: { logId: number }[]): number[] => events.map(({ logId }) => logId)

test('pages follow each other by nextSince until more is false, without a gap or a repeat', async () => {
  await using gateway = await startGateway()
  for (let i = 0; i < 7; i++) await gateway.addAgent(`agent-${i}`)
  const seen: number[] = []
  let since = 0
  for (;;) {
    const { events, nextSince, more, lastLogId } = await page(gateway, `?since=${since}&limit=3`)
    seen.push(...idsOf(events))
    expect(lastLogId).toBe(7)
    since = nextSince
    if (!more) break
    expect(events).toHaveLength(3)
  }
  expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7])
  expect(await page(gateway, '?since=7')).toEqual({ events: [], lastLogId: 7, nextSince: 7, more: false })
  expect(await page(gateway, '?since=4&limit=3')).toMatchObject({ more: false, nextSince: 7 })
})

test('an empty log is an empty page', async () => {
  await using gateway = await startGateway()
  expect(await page(gateway, '')).toEqual({ events: [], lastLogId: 0, nextSince: 0, more: false })
})

test('an agent sees only the events that concern it, and its watermark still reaches the log head', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  const ines = await gateway.addAgent('ines')
  await gateway.send('donna', 'for donna alone', { key: mike.key })
  const types = async (key: string) =>
    (await page(gateway, '', key)).events.map(({ type, logId }: { type: string; logId: number }) => [logId, type])
  expect(await types(donna.key)).toEqual([
    [1, 'agent.created'],
    [4, 'message.sent'],
    [5, 'task.state_changed'],
  ])
  expect(await types(mike.key)).toEqual([
    [2, 'agent.created'],
    [5, 'task.state_changed'],
  ])
  const nothing = await page(gateway, '?since=3', ines.key)
  expect(nothing).toEqual({ events: [], lastLogId: 5, nextSince: 5, more: false })
})

test('a pruned watermark is 410, one ahead of the log is 409, no watermark starts at the oldest kept event', async () => {
  await using gateway = await startGateway()
  for (const name of ['a', 'b', 'c']) await gateway.addAgent(name)
  await besideStore(gateway.dataDir, 'delete from event where log_id <= 2')
  await besideStore(gateway.dataDir, 'update project set log_tail = 2')
  for (const accept of ['application/json', 'text/event-stream']) {
    const headers = { accept }
    const gone = await gateway.call('GET', '/v1/events?since=1', undefined, { headers })
    expect(gone.status).toBe(410)
    expect(gone.body).toMatchObject({ code: 'watermark-expired', field: 'since', earliestLogId: 2 })
    const ahead = await gateway.call('GET', '/v1/events?since=4', undefined, { headers })
    expect(ahead.status).toBe(409)
    expect(ahead.body).toMatchObject({ code: 'watermark-ahead', lastLogId: 3 })
  }
  expect(idsOf((await page(gateway, '?since=2')).events)).toEqual([3])
  expect(idsOf((await page(gateway, '')).events)).toEqual([3])
})

test.each([
  ['?since=x', 'since'],
  ['?since=', 'since'],
  ['?since=-1', 'since'],
  ['?limit=0', 'limit'],
  ['?limit=1001', 'limit'],
  ['?limit=1&limit=2', 'limit'],
  ['?after=1', 'after'],
])('%s is refused by the name of the field', async (query, field) => {
  await using gateway = await startGateway()
  const { status, body } = await gateway.call('GET', `/v1/events${query}`)
  expect(status).toBe(400)
  expect(body).toMatchObject({ code: 'invalid-request', field })
})

test('Accept decides: a page, unless a stream is preferred', async () => {
  await using gateway = await startGateway()
  for (const accept of ['*/*', 'application/json', 'application/json, text/event-stream', 'text/html']) {
    const { headers } = await gateway.call('GET', '/v1/events', undefined, { headers: { accept } })
    expect(headers.get('content-type')).toMatch(/^application\/json/)
  }
  const head = await gateway.call('HEAD', '/v1/events', undefined, { headers: { accept: 'text/event-stream' } })
  expect(head.status).toBe(200)
})
