import type { Sweep } from '../../lib/sweeper.ts'
import type { Base } from '../../log/core.ts'
import { clearRemoved } from './removed-store.ts'

const everyMs = 10_000
/** Rows that a writer still adds, which began before the removal, are there by then. */
const settledMs = 60_000

/** Deletes what removed subscriptions have left, in small steps: other writers never wait for all of it. */
export function removedRowsSweep({ db, clock, log }: Base): Sweep {
  return {
    name: 'removed_rows',
    everyMs,
    async run(signal) {
      const rows = await clearRemoved(db, clock.now() - settledMs, signal)
      if (rows > 0) log.info({ rows }, 'subscriptions.cleared')
      return false
    },
  }
}
