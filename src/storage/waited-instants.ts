import type { Clock } from '../lib/clock.ts'
import type { Sweep } from '../lib/sweeper.ts'
import type { Logger } from '../logger/logger.ts'
import { parkedMsMax } from '../words/parking.ts'
import type { Database, Transaction } from './database.ts'
import { p, type Statement, sql, statement } from './statement.ts'

/** By how much the clocks of two gateways of a store may differ. */
const differenceMs = 10_000

/**
 * The stored instants that something waits for, and how far ahead of now each can honestly be, in ms. What is later was written while
 * the clock was ahead. Instants that nothing waits for, such as when a message was sent, stay as they were written.
 */
export const waitedInstants = {
  'session.last_seen_at': differenceMs,
  'session.presence_at': differenceMs,
  'claim.seen_at': differenceMs,
  'mcp_session.last_used_at': differenceMs,
  'idempotency_key.created_at': differenceMs,
  'removed_subscription.removed_at': differenceMs,
  'gateway.seen_at': differenceMs,
  // The life of a code.
  'sign_in_code.expires_at': 60_000,
  'sweep.until': 30_000,
  // The longest window of a subscription.
  'subscription.window_until': 300_000,
  // The longest time that a client of MCP may ask for.
  'subscription.expires_at': 30 * 24 * 3_600_000,
  'session.acted_at': differenceMs,
  'subscription.parked_until': parkedMsMax,
  'recovery.parked_until': parkedMsMax,
  'need.told_at': differenceMs,
  // The longest snooze.
  'need.snoozed_until': 30 * 24 * 3_600_000,
  'recovery.since': differenceMs,
  // The longest time for a boot.
  'recovery.deadline_at': 24 * 3_600_000 + differenceMs,
  'recovery.pulsed_at': differenceMs,
  'recovery.bridge_at': differenceMs,
  // The longest time that a harness waits for a person.
  'approval.expires_at': 24 * 3_600_000 + differenceMs,
  'follower.polled_at': differenceMs,
  // A held poll, and the time until the next one.
  'follower.held_until': 70_000,
} as const satisfies Readonly<Record<`${string}.${string}`, number>>

const corrections = Object.entries(waitedInstants).map(([name, windowMs]) => {
  const [table, column] = name.split('.').map((part) => sql.raw(part))
  const latest = sql`cast(${p('now')} as bigint) + ${sql.raw(String(windowMs))}`
  const text = sql`update ${table} set ${column} = ${latest} where ${column} > ${latest} /* set back */`
  return statement(text) as Statement<{ now: number }, unknown>
})

interface ClockContext {
  readonly db: Database
  readonly clock: Clock
  readonly log: Logger
  /** True when the clock agrees with that of the store: if not, its own instants may be the wrong ones. */
  readonly isClockRight: () => boolean
}

/** A smaller step back is no reason to look at everything. */
const stepMs = 1_000

/**
 * Corrects the stored instants after the clock was set back, so that what they are waited for ends in time from now on. It looks at the start too: the
 * clock may have been set back while no gateway ran.
 */
export function clockSweep({ db, clock, log, isClockRight }: ClockContext): Sweep {
  let seen = Number.POSITIVE_INFINITY
  return {
    name: 'clock',
    everyMs: 5_000,
    async run() {
      const now = clock.now()
      if (now < seen - stepMs) {
        if (!isClockRight()) return false
        const corrected = await db.transaction(correctInstants)
        if (corrected > 0) log.warn({ corrected }, 'clock.set_back')
      }
      seen = now
      return false
    },
  }
}

async function correctInstants(tx: Transaction): Promise<number> {
  let count = 0
  for (const correction of corrections) count += await tx.run(correction, { now: tx.now })
  return count
}
