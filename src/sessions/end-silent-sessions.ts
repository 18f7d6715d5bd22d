import type { Sweep } from '../lib/sweeper.ts'
import { listSilentSessions } from '../registry/sessions/session-lists.ts'
import { hasEndedBefore, removeEndedSessions } from '../registry/sessions/session-store.ts'
import type { SessionContext } from './context.ts'
import { dropSilentSession } from './end.ts'

const batchMax = 100
/** How long an ended session can be read. */
const keptMs = 30 * 24 * 60 * 60 * 1000

/** Ends sessions that were silent for too long, with the reason `timeout`. Source: S4-8. */
export function silenceSweep(context: SessionContext): Sweep {
  return {
    name: 'sessions',
    everyMs: 5_000,
    async run() {
      const ended = await endSilentSessions(context)
      if (ended > 0) context.log.info({ ended }, 'session.timed_out')
      return ended === batchMax
    },
  }
}

/** Ends a batch of silent sessions and removes old ended ones. Safe on several gateways at once. Returns how many it ended. */
export async function endSilentSessions(context: SessionContext): Promise<number> {
  const { db, clock, timeoutMs, silenceUntil } = context
  const now = clock.now()
  const before = silenceUntil(now) - timeoutMs
  let ended = 0
  for (const session of await listSilentSessions(db, before, batchMax)) {
    // Each in its own transaction, so that none waits for the announcements of another.
    if (await db.transaction((tx) => dropSilentSession(context, tx, session, before))) ended++
  }
  if (await hasEndedBefore(db, now - keptMs)) {
    await db.transaction((tx) => removeEndedSessions(tx, now - keptMs, batchMax))
  }
  return ended
}
