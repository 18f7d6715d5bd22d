import { AsyncLocalStorage } from 'node:async_hooks'
import { Problem } from '../errors.ts'
import type { Transaction } from './database.ts'

/** A call of somebody outside, and what it has done to the store. */
interface Call {
  hasCommitted: boolean
  /** Joins each transaction of the call that has written something. */
  readonly join: ((tx: Transaction) => Promise<void>) | undefined
}

const calls = new AsyncLocalStorage<Call>()

/**
 * Runs a call, which may commit and then read its answer. An error after its first commit says so: whoever trusts that nothing was stored
 * sends the same again.
 */
export async function asCall<T>(work: () => Promise<T>, join?: Call['join']): Promise<T> {
  const call: Call = { hasCommitted: false, join }
  try {
    return await calls.run(call, work)
  } catch (error) {
    throw call.hasCommitted ? afterCommit(error) : error
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
