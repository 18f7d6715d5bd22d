import { leaseMs, renewLease, requeueLease } from '../store/lease-store.ts'
import type { Run } from './run.ts'

/** Renews the lease of a run. False: the run stops, or the lease was lost. */
export async function renew({ context, lease, signal }: Run): Promise<boolean> {
  if (signal.aborted) return false
  const isOurs = await context.db.transaction((tx) => renewLease(tx, lease, tx.now + leaseMs))
  if (!isOurs) lease.lose()
  return isOurs
}

/** Ends a run before its work is done: the next lease, from `dueAt` on (ms since the epoch), continues it. */
export async function requeue({ context, lease }: Run, dueAt: number): Promise<void> {
  await context.recorder.settled(lease)
  if (!lease.isLost) await context.db.transaction((tx) => requeueLease(tx, lease, dueAt))
  lease.lose()
}
