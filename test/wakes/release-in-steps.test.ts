import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLogger } from '../../src/logger/logger.ts'
import { savePresence } from '../../src/registry/sessions/session-store.ts'
import { missedEdgeSweep } from '../../src/wakes/missed-edges.ts'
import { releaseLeft } from '../../src/wakes/release-in-steps.ts'
import { releaseStep, retryHeld } from '../../src/wakes/store/retry-held.ts'
import { begin, say } from '../sessions/sessions.ts'
import { startGateway } from '../support/gateway.ts'
import { besideStore, openStore } from '../support/store.ts'
import { readWakes } from '../support/wake-reader.ts'

const idle = { state: 'idle', source: 'bridge-daemon', capabilities: ['turn/start'] } as const
const active = { ...idle, state: 'active', activeTurnId: 't' } as const
const subscriptions = 2 * releaseStep

/** Donna works, and each of her subscriptions holds one mail. */
async function donnaWorks() {
  const gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const ids: string[] = []
  const input = {
    trigger: 'SENT_TO_ME',
    harnessTarget: 'bridge-daemon',
    harnessTargetMetadata: { coalesceWindow: 0 },
  }
  for (let count = 0; count < subscriptions; count += 1) {
    ids.push((await gateway.call('POST', '/v1/wake-subscriptions', input, donna)).body.subscriptionId)
  }
  const reader = await readWakes(gateway, donna, ids, [])
  const session = await begin(gateway, donna)
  await say(gateway, donna, active)
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'hello', wakePolicy: 'immediate' })
  return {
    gateway,
    donna,
    reader,
    session,
    async held(): Promise<number> {
      const text = 'select count(*) as n from held_wake where presence is not null and released = 0'
      return Number((await besideStore(gateway.dataDir, text))[0]!.n)
    },
    async [Symbol.asyncDispose]() {
      await reader[Symbol.asyncDispose]()
      await gateway[Symbol.asyncDispose]()
    },
  }
}

/** The first transaction of a report that she is idle, after which its process ends, or goes on. */
async function firstStep({ gateway, session }: Awaited<ReturnType<typeof donnaWorks>>) {
  await gateway.stop()
  // As if her stream was still there.
  await besideStore(gateway.dataDir, `update subscription set status = 'active'`)
  const [row] = await besideStore(gateway.dataDir, 'select agent_id as "agentId" from session')
  const db = await openStore(gateway.dataDir, systemClock)
  const retried = await db.transaction(async (tx) => {
    await savePresence(tx, session, idle)
    return retryHeld(tx, String(row!.agentId), { ...idle, activeTurnId: null })
  })
  return { ...retried, db, [Symbol.asyncDispose]: () => db[Symbol.asyncDispose]() }
}

test('a report releases what all subscriptions hold before its answer, and each sends one wake', async () => {
  await using s = await donnaWorks()
  expect(await s.held()).toBe(subscriptions)
  expect((await say(s.gateway, s.donna, idle)).status).toBe(200)
  expect(await s.held()).toBe(0)
  expect(await s.reader.waitFor(subscriptions)).toHaveLength(subscriptions)
})

test('what the end of the process leaves held between two steps is found by the sweep', async () => {
  await using s = await donnaWorks()
  await using step = await firstStep(s)
  const { released, left } = step
  expect([released.length, left.length, await s.held()]).toEqual([releaseStep, releaseStep, releaseStep])
  const changed: string[] = []
  const context = { db: step.db, clock: systemClock, changed: (id: string) => void changed.push(id) }
  await missedEdgeSweep(context).run(new AbortController().signal)
  expect(changed.sort()).toEqual([...left].sort())
  expect(await s.held()).toBe(0)
})

test('a step goes by the presence of its time: who works again is not disturbed', async () => {
  await using s = await donnaWorks()
  await using step = await firstStep(s)
  await step.db.transaction((tx) => savePresence(tx, s.session, active))
  const changed: string[] = []
  await releaseLeft({ db: step.db, log: silentLogger, changed: (id) => void changed.push(id) }, step.left)
  expect([changed, await s.held()]).toEqual([[], releaseStep])
})
