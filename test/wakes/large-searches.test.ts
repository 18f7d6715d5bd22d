import { expect, test } from 'vitest'
import type { NewEvent } from '../../src/log/event.ts'
import { defaultProject } from '../../src/registry/projects/project-store.ts'
import type { Reader } from '../../src/storage/database.ts'
import { listUnsent, readTriggerEventsBefore } from '../../src/wakes/read/non-wakes.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { messageSent, subscriptionOf } from './builders.ts'
import { openEngine } from './engine.ts'

/** About as large as an event may be. */
const taggedConcepts = Array.from({ length: 100 }, (_, n) => `${n}`.padEnd(200, 'x'))

/** A subscription of mallory that matches none of the events that follow, but the oldest. Returns the path of what it did not send. */
async function floodMallory(gateway: TestGateway, mallory: TestAgent, count: number): Promise<string> {
  const input = { trigger: 'SENT_TO_ME', harnessTarget: 'mcp-notifications', filters: { priority: 'high' } }
  const { body } = await gateway.call('POST', '/v1/wake-subscriptions', input, mallory)
  const send = async (fields: object) => {
    const sent = await gateway.call('POST', '/v1/messages', { to: '@mallory', subject: 's', ...fields })
    expect(sent.status).toBe(201)
  }
  await send({ priority: 'high', wakePolicy: 'silent' })
  for (let n = 0; n < count; n += 50) {
    await Promise.all(Array.from({ length: 50 }, () => send({ taggedConcepts })))
  }
  return `/v1/wake-subscriptions/${body.subscriptionId}/held`
}

test('a page of held events reads a bounded size of events that do not match, and the next ones go on from there', async () => {
  await using gateway = await startGateway()
  const mallory = await gateway.addAgent('mallory')
  const path = await floodMallory(gateway, mallory, 120)
  const first = (await gateway.call('GET', `${path}?limit=1`, undefined, mallory)).body
  expect(first).toEqual({ held: [], nextPageToken: expect.stringMatching(/^\d+$/) })
  const held: unknown[] = []
  for (let token = first.nextPageToken; token !== ''; ) {
    const { body } = await gateway.call('GET', `${path}?limit=1&pageToken=${token}`, undefined, mallory)
    held.push(...body.held)
    token = body.nextPageToken
  }
  expect(held).toMatchObject([{ reason: 'silent' }])
})

test('one query reads at most a hundred events, and a search that is refused has read a few', async () => {
  await using engine = await openEngine(() => Promise.reject(new Error('Nothing is sent here.')))
  const audience = ['agent_donna']
  const events = Array.from({ length: 600 }, (_, n): NewEvent => {
    return { type: 'message.sent', actor: '@lola', audience, data: messageSent(n).data }
  })
  await engine.db.transaction((tx) => engine.context.append(tx, defaultProject, events))
  const counts: number[] = []
  const db = countRows(engine.db, counts)
  const subscription = subscriptionOf({ filters: { priority: 'high' } })
  const before = Number.MAX_SAFE_INTEGER
  const found = await listUnsent(db, subscription, async () => new Map(), {
    before,
    limit: 1,
  })
  expect(found).toEqual({ items: [], nextBefore: undefined })
  expect(Math.max(...counts)).toBe(100)
  const { projectId, trigger } = subscription
  const all = await readTriggerEventsBefore(db, { projectId, audience: audience[0]!, trigger, before, limit: 1_000 })
  expect(all).toHaveLength(600)
})

/** Notes how many rows each query returns. */
function countRows(db: Reader, counts: number[]): Reader {
  return {
    get: (statement, parameters) => db.get(statement, parameters),
    all: async (statement, parameters) => {
      const rows = await db.all(statement, parameters)
      counts.push(rows.length)
      return rows
    },
  }
}
