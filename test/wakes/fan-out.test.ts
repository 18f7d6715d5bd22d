import { expect, test } from 'vitest'
import type { NewEvent } from '../../src/log/event.ts'
import { numberEvents } from '../../src/log/event-store.ts'
import { defaultProject } from '../../src/registry/projects/project-store.ts'
import type { WakeSubscription } from '../../src/registry/subscriptions/subscription.ts'
import { findSubscription } from '../../src/registry/subscriptions/subscription-store.ts'
import type { Transaction } from '../../src/storage/database.ts'
import { decideWakes } from '../../src/wakes/commit/decide-wakes.ts'
import { findCandidates, indexByAudience } from '../../src/wakes/commit/schedule.ts'
import { until } from '../support/until.ts'
import { messageSent } from './builders.ts'
import { arrived, openEngine } from './engine.ts'

const agents = Array.from({ length: 6 }, (_, n) => `agent_${n}`)
const { type, actor, data } = messageSent(0, { taggedConcepts: ['hit'] })
const broadcast: NewEvent = { type, actor, data, audience: [...agents, 'agent_quiet'] }
const long = (n: number) => Array.from({ length: 15 }, (_, m) => `${n}-${m}-`.padEnd(120, 'é'))

/** The settings of the nth subscription of an agent: with short and long filters that the event passes or not, and with another trigger. */
function settings(n: number): Partial<WakeSubscription> & { readonly isWoken: boolean } {
  switch (n % 5) {
    case 0:
      return { isWoken: true, filters: {} }
    case 1:
      return { isWoken: true, filters: { taggedConcepts: [...long(n), 'hit'] } }
    case 2:
      return { isWoken: false, filters: { taggedConcepts: long(n) } }
    case 3:
      return { isWoken: false, filters: { taggedConcepts: [...long(n), 'hit'] }, trigger: 'TASK_STATE_CHANGED' }
    default:
      return { isWoken: false, filters: { taggedConcepts: ['other'] } }
  }
}

/** Subscriptions of several agents, and which of them the broadcast wakes. */
function crowd(each: number) {
  const all = agents.flatMap((agentId) =>
    Array.from({ length: each }, (_, n) => ({
      id: `WAKE_SUB:${agentId}-${n}`,
      agentId,
      audience: agentId,
      ...settings(n),
    })),
  )
  const rows = all.map(({ isWoken, ...row }) => row)
  return {
    rows,
    woken: all
      .filter(({ isWoken }) => isWoken)
      .map(({ id }) => id)
      .sort(),
  }
}

/** Counts what is read in one iteration of the event loop. */
function counting(tx: Transaction) {
  const most = { rows: 0, bytes: 0 }
  let read = { rows: 0, bytes: 0 }
  let isOver = false
  const turn = () => {
    read = { rows: 0, bytes: 0 }
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  const all: Transaction['all'] = async (statement, params) => {
    const rows = await tx.all(statement, params)
    read.rows += rows.length
    read.bytes += Buffer.byteLength(JSON.stringify(rows))
    most.rows = Math.max(most.rows, read.rows)
    most.bytes = Math.max(most.bytes, read.bytes)
    return rows
  }
  const end = () => {
    isOver = true
  }
  return { tx: { ...tx, all }, most, end }
}

async function decideAbout(each: number) {
  await using engine = await openEngine(async () => arrived)
  const { rows, woken } = crowd(each)
  await engine.add(rows)
  return engine.db.transaction(async (tx) => {
    const counted = counting(tx)
    const byAudience = indexByAudience([broadcast])
    const written = await numberEvents(tx, defaultProject, [broadcast])
    const candidates = await findCandidates(counted.tx, defaultProject, [broadcast], byAudience)
    const { due } = await decideWakes(counted.tx, written, byAudience, candidates)
    counted.end()
    return { due: due.map(({ id }) => id).sort(), woken, most: counted.most }
  })
}

test('an event for thousands of subscriptions with long filters is decided about in pieces, and wakes the same', async () => {
  const { due, woken, most } = await decideAbout(300)
  expect(due).toEqual(woken)
  expect(due).toHaveLength(agents.length * 120)
  expect(most.rows).toBeLessThanOrEqual(4 * 128)
  expect(most.bytes).toBeLessThan(400 * 1024)
})

test.each([1, 21, 22, 127, 128, 129, 256])(
  'each of %i subscriptions of several agents is decided about once',
  async (each) => {
    const { due, woken } = await decideAbout(each)
    expect(due).toEqual(woken)
  },
)

test('one broadcast wakes hundreds of subscriptions of each agent, each once, and leaves none due', async () => {
  const sent = new Map<string, number>()
  await using engine = await openEngine(async ({ subscription: { id } }) => {
    sent.set(id, (sent.get(id) ?? 0) + 1)
    return arrived
  })
  const { rows, woken } = crowd(200)
  await engine.add(rows)
  await using gateway = engine.start()
  await engine.db.transaction((tx) => gateway.append(tx, defaultProject, [broadcast]))
  await until(
    () => sent.size,
    (count) => count === woken.length,
  )
  for (const { id } of rows) {
    const isAtRest = async () => (await findSubscription(engine.db, id))?.dueAt === null
    await until(isAtRest, (rests) => rests)
  }
  expect([...sent.keys()].sort()).toEqual(woken)
  expect(new Set(sent.values())).toEqual(new Set([1]))
})
