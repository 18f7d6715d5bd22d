import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { sizeLimits } from '../../src/limits.ts'
import { callTool } from '../fronts/mcp/http/call-tool.ts'
import { liftRates, startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { besideStore } from '../support/store.ts'

const all = '/v1/wake-subscriptions'
const { max } = sizeLimits.settings
const entries = (prefix: string) => Array.from({ length: 100 }, (_, n) => `${prefix}${n}`.padEnd(200, 'x'))
/** As large as each list may be. */
const full = {
  taggedConcepts: entries('concept'),
  senderFilter: ['@bob', ...entries('@sender').slice(1)],
  inReplyToFilter: entries('message'),
}
/** With as many bytes as are allowed, of characters of two bytes. */
const largest = (() => {
  const sized = (length: number) => ({
    senderFilter: ['@bob', ...Array<string>(11).fill(`@${'é'.repeat(180)}`)],
    inReplyToFilter: ['m'.repeat(length)],
  })
  return sized(max - Buffer.byteLength(JSON.stringify(sized(0))))
})()

const refusal = { code: 'payload-too-large', field: 'filters', limit: 'settings', max }

/** Subscriptions from before there was a limit. */
async function subscribeBefore(gateway: TestGateway, agent: TestAgent, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < count; n++) {
    const { body } = await gateway.call('POST', all, { trigger: 'SENT_TO_ME' }, agent)
    ids.push(body.subscriptionId)
  }
  await besideStore(gateway.dataDir, `update subscription set filters = ? where kind = 'wake'`, JSON.stringify(full))
  return ids
}

test('filters that each event would be compared with are bounded together, on every way to set them', async () => {
  await using gateway = await startGateway()
  const mallory = await gateway.addAgent('mallory')
  const made = await gateway.call('POST', all, { trigger: 'SENT_TO_ME', filters: largest }, mallory)
  expect(made.status).toBe(201)
  const path = `${all}/${made.body.subscriptionId}`
  const [reply] = largest.inReplyToFilter
  const above = { ...largest, inReplyToFilter: [`${reply}m`] }
  for (const filters of [full, above]) {
    const answers = [
      await gateway.call('POST', all, { trigger: 'SENT_TO_ME', filters }, mallory),
      await gateway.call('PATCH', path, { filters }, mallory),
    ]
    for (const { status, body } of answers) {
      expect(status).toBe(413)
      expect(body).toMatchObject({ ...refusal, detail: expect.stringContaining('List fewer entries') })
    }
    const change = { action: 'update', subscriptionId: made.body.subscriptionId, filters }
    for (const args of [{ action: 'subscribe', trigger: 'SENT_TO_ME', filters }, change]) {
      const { isError, text } = await callTool(gateway, mallory.key, 'manage_wake_subscription', args)
      expect([isError, text]).toEqual([true, expect.stringContaining('List fewer entries')])
    }
  }
  expect((await gateway.call('GET', path, undefined, mallory)).body.filters).toEqual(largest)
  expect((await gateway.call('PATCH', path, { filters: largest }, mallory)).status).toBe(200)
})

test('a subscription that has larger filters already works on, and changes in all but them', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const bob = await gateway.addAgent('bob')
  const { id } = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  const { taggedConcepts, inReplyToFilter: _, ...filters } = full
  const stored = JSON.stringify({ ...filters, taggedConcepts: [...taggedConcepts, 'ships'] })
  await besideStore(gateway.dataDir, 'update subscription set filters = ? where id = ?', stored, id)
  const tell = () =>
    gateway.call(
      'POST',
      '/v1/messages',
      { to: '@donna', subject: 'x', taggedConcepts: ['ships'], wakePolicy: 'immediate' },
      bob,
    )
  await tell()
  await receiver.waitFor(1)
  for (const change of [{ status: 'paused' }, { status: 'active' }, { harnessTargetMetadata: { maxInFlight: 2 } }]) {
    expect((await gateway.call('PATCH', `${all}/${id}`, change, donna)).status).toBe(200)
  }
  await tell()
  await receiver.waitFor(2)
})

test('a page of subscriptions is bounded by its size, and each subscription is in one page', async () => {
  await using gateway = await startGateway()
  await liftRates(gateway)
  const mallory = await gateway.addAgent('mallory')
  const ids = await subscribeBefore(gateway, mallory, 60)
  for (const { key } of [mallory, { key: gateway.adminKey }]) {
    const seen: string[] = []
    let pages = 0
    for (let token = ''; pages === 0 || token !== ''; pages++) {
      const { status, body } = await gateway.call(
        'GET',
        `${all}?limit=500${token && `&pageToken=${token}`}`,
        undefined,
        { key },
      )
      expect(status).toBe(200)
      expect(JSON.stringify(body).length).toBeLessThan(sizeLimits.page.max * 1.1)
      seen.push(...body.subscriptions.map(({ subscriptionId }: JsonObject) => subscriptionId))
      token = body.nextPageToken
    }
    expect(pages).toBe(4)
    // Of two that were made in the same millisecond, either may come first.
    expect(seen).toEqual([...ids].sort())
  }
})
