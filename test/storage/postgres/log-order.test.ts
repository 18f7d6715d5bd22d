import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Problem } from '../../../src/errors.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import type { NewEvent } from '../../../src/log/event.ts'
import { readProjectEvents } from '../../../src/log/event-store.ts'
import { ensureProject } from '../../../src/registry/projects/project-store.ts'
import { PostgresDatabase } from '../../../src/storage/postgres/postgres-database.ts'
import { insertEvents } from '../../support/insert-events.ts'
import { databaseUrlFor } from '../../support/store.ts'

let gateways: PostgresDatabase[]

beforeEach(async () => {
  const url = (await databaseUrlFor(randomBytes(8).toString('hex'))) as string
  gateways = await Promise.all([1, 2, 3].map(() => PostgresDatabase.open(url, systemClock)))
  for (const project of ['north', 'south']) await ensureProject(gateways[0]!, project)
})
afterEach(() => Promise.all(gateways.map((db) => db.close())))

const eventsOf = (text: string, count: number): NewEvent[] =>
  Array.from({ length: count }, () => ({ type: 'agent.updated', actor: '@donna', audience: ['donna'], data: { text } }))

// A reader that reads after the last logId that it saw must never skip a writer that commits late.
test('many writers of several gateways leave no gap, and a follower skips no event', async () => {
  const total = 720
  let written = 0
  const given: number[] = []
  const writer = async (db: PostgresDatabase, n: number) => {
    for (let round = 0; round < 12; round++) {
      const fails = (n + round) % 10 === 9
      const count = 1 + ((n + round) % 3)
      const events = await db
        .transaction(async (tx) => {
          const appended = await insertEvents(tx, 'north', eventsOf(`${n}`, count))
          await insertEvents(tx, 'south', eventsOf(`${n}`, 1))
          // Late on purpose: others of the same moment would like to commit before.
          if (round % 5 === 0) await new Promise(setImmediate)
          if (fails) throw new Problem('forbidden')
          return appended
        })
        .catch(() => [])
      given.push(...events.map(({ logId }) => logId))
      written++
    }
  }
  const writers = gateways.flatMap((db, gateway) => Array.from({ length: 20 }, (_, n) => writer(db, gateway * 20 + n)))
  let done = false
  const all = Promise.all(writers).then(() => {
    done = true
  })
  const seen: number[] = []
  const reader = gateways[2]!
  for (let last = false; ; ) {
    const page = await readProjectEvents(reader, 'north', seen.at(-1) ?? 0, 100)
    seen.push(...page.map(({ logId }) => logId))
    if (page.length > 0) continue
    if (last) break
    last = done
  }
  await all
  expect(written).toBe(total)
  expect(seen).toEqual(seen.map((_, index) => index + 1))
  expect(given.sort((a, b) => a - b)).toEqual(seen)
})
