import { AsyncLocalStorage } from 'node:async_hooks'
import { Problem } from '../errors.ts'
import type { Database, Transaction } from './database.ts'

/** A call of somebody outside, and what it has done to the store. */
interface Call {
  hasCommitted: boolean
  readonly join: ((tx: Transaction) => Promise<void>) | undefined
}

const calls = new AsyncLocalStorage<Call>()
let running = 0

/**
 * Runs a call, which may commit and then read its answer. An error after its first commit says so: a client that trusts that nothing was stored
 * sends the same again.
 * @param join joins each transaction of the call that writes something
 */
export async function asCall<T>(
  { isRemote }: Pick<Database, 'isRemote'>,
  work: () => Promise<T>,
  join?: Call['join'],
): Promise<T> {
  if (!isRemote && !join) return work()
  const call: Call = { hasCommitted: false, join }
  running++
  try {
    return await calls.run(call, work)
  } catch (error) {
    throw call.hasCommitted ? afterCommit(error) : error
  } finally {
    // Before Node 24 each promise of the process costs twice as much while a store of contexts is in use.
    if (--running === 0) calls.disable()
  }
}

/** Returns an error as a call reports it that has committed something before. */
export function afterCommit(error: unknown): unknown {
  if (!(error instanceof Problem) || error.code !== 'storage-unavailable' || error.extra.uncertain) return error
  return new Problem('storage-unavailable', {
    detail: 'This was stored, but the store failed before the answer was complete. Look at it before you try again.',
    extra: { uncertain: true },
    cause: error,
  })
}

/** Runs a transaction as part of the call that makes it, if one does. Every engine passes its transactions through here. */
export async function inCall<T>(
  work: (tx: Transaction) => Promise<T>,
  run: (work: (tx: Transaction) => Promise<T>) => Promise<T>,
): Promise<T> {
  const call = calls.getStore()
  if (!call) return run(work)
  let hasWritten = false
  const joined = async (tx: Transaction): Promise<T> => {
    const value = await work(tx)
    hasWritten = tx.hasWritten
    if (hasWritten) await call.join?.(tx)
    return value
  }
  // What the engine goes on with after the commit is no part of the call.
  const value = await calls.exit(() => run(joined))
  call.hasCommitted ||= hasWritten
  return value
}
