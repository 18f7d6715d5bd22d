import { expect } from 'vitest'
import { giveBackUsage } from '../../src/admission/usage-store.ts'
import { pruneApprovals } from '../../src/approvals/approval-store.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { pruneEvents } from '../../src/log/prune-events.ts'
import { silentLogger } from '../../src/logger/logger.ts'
import { pruneMessages } from '../../src/mailbox/retention.ts'
import { removeExpiredCodes } from '../../src/registry/callers/sign-in-code-store.ts'
import { pruneFollowers } from '../../src/registry/followers/follower-store.ts'
import { pruneIdempotencyKeys } from '../../src/registry/idempotency.ts'
import { noteOvertaken } from '../../src/registry/subscriptions/mcp-store.ts'
import { endSilentSessions } from '../../src/sessions/end-silent-sessions.ts'
import type { Database } from '../../src/storage/database.ts'
import { missedEdgeSweep } from '../../src/wakes/missed-edges.ts'
import { pruneDeliveries } from '../../src/wakes/store/delivery-store.ts'
import { pruneHeld } from '../../src/wakes/store/held-store.ts'
import { openStore } from '../support/store.ts'

/** Removes what is older than tomorrow from a store on which no gateway runs: the statements of all sweeps. */
export async function pruneEverything(dataDir: string): Promise<void> {
  await using db = await openStore(dataDir, systemClock)
  const { signal } = new AbortController()
  const tomorrow = Date.now() + 86_400_000
  expect(await pruneEvents(db, tomorrow, signal)).toBeGreaterThan(0)
  await noteOvertaken(db)
  await pruneDeliveries(db, tomorrow, signal)
  await pruneIdempotencyKeys(db, tomorrow, signal, giveBackUsage)
  await pruneHeld(db, tomorrow, signal)
  expect(await pruneApprovals(db, tomorrow, signal)).toBeGreaterThan(0)
  expect(await pruneFollowers(db, tomorrow, signal)).toBeGreaterThan(0)
  expect(await removeExpiredCodes(db, tomorrow)).toBeGreaterThan(0)
  await missedEdgeSweep({ db, clock: systemClock, changed() {} }).run(signal)
  await sweepSessions(db)
  await pruneMessages(db, tomorrow, 1, signal)
}

async function sweepSessions(db: Database): Promise<void> {
  const clock = { ...systemClock, now: () => Date.now() + 40 * 86_400_000 }
  const nothing = async () => []
  const context = {
    db,
    clock,
    log: silentLogger,
    append: nothing,
    silenceUntil: (now: number) => now,
    timeoutMs: 1,
    drain: nothing,
    hasWaiting: async () => false,
    announce: async () => {},
    changed: () => {},
  }
  expect(await endSilentSessions(context)).toBeGreaterThan(0)
}
