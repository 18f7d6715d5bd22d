import { createHash } from 'node:crypto'
import { Problem } from '../errors.ts'
import { Semaphores } from '../lib/semaphores.ts'
import { Collision, type Database, type Reader, type Transaction } from '../storage/database.ts'
import type { Caller } from './callers/caller.ts'
import { endResult, findResult, insertResult, removeResult, removeResults } from './idempotency-store.ts'

/** The caller's key of a request, and a fingerprint of the request. A repeat has both. */
export interface Idempotency {
  readonly key: string
  readonly fingerprint: string
}

/**
 * Returns the idempotency of a request, by all that it says. Another key of the same agent makes another request: it may be allowed less, and
 * gets no answer that was for the first one. Pure.
 */
export function idempotencyOf({ keyId }: Pick<Caller, 'keyId'>, key: string, ...said: readonly unknown[]): Idempotency {
  return {
    key,
    fingerprint: createHash('sha256')
      .update(JSON.stringify([keyId, ...said]))
      .digest('hex'),
  }
}

/** Whose key it is: all operators have one id, so each of their own keys counts for itself. Pure. */
export const keyOwner = ({ kind, id, keyId }: Pick<Caller, 'kind' | 'id' | 'keyId'>): string =>
  kind === 'operator' ? keyId : id

/** A caller's keys for mail. Its keys for tasks have one scope for each agent that it sends to: the agent's id. */
export const mailScope = 'mail'
/** A caller's keys for all other calls. */
export const callScope = 'call'

/** How long a repeat gets the first result: longer than any client retries. */
const keptMs = 24 * 60 * 60 * 1000

/**
 * Lets requests with the same key run one after the other. At the same time, the second would fail after it has written, and on
 * PostgreSQL all writers of its group would run again.
 */
export class RepeatedRequests {
  readonly #keys = new Semaphores()

  /** Runs the work of a request when no other one with its key runs. How many wait is bounded: they are requests of one caller. */
  async run<T>(callerId: string, scope: string, { key }: Idempotency, work: () => Promise<T>): Promise<T> {
    const leave = await this.#keys.enter(JSON.stringify([callerId, scope, key]), {
      max: 1,
      queued: Number.POSITIVE_INFINITY,
    })
    try {
      return await work()
    } finally {
      leave?.()
    }
  }
}

/** Returns the id of the task or message that the first request with this key made, if there was one. Errors: `idempotency-conflict`. */
export async function findFirstResult(
  db: Reader,
  callerId: string,
  scope: string,
  { key, fingerprint }: Idempotency,
): Promise<string | undefined> {
  const first = await findResult(db, { callerId, scope, key })
  if (!first || first.fingerprint === fingerprint) return first?.resultId
  const kind = scope === callScope ? 'request' : 'message'
  throw new Problem('idempotency-conflict', {
    field: 'Idempotency-Key',
    detail: `Idempotency-Key: "${key}" was used for another ${kind}, or with another API key or token. Use a new one for a new ${kind}.`,
  })
}

/**
 * Keeps the id of what a request made, for its repeats. Throws `Collision` when another transaction has used the key since
 * `findFirstResult`: then the store runs this transaction again, which finds the first result.
 */
export async function keepResult(
  tx: Transaction,
  callerId: string,
  scope: string,
  { key, fingerprint }: Idempotency,
  resultId: string,
): Promise<void> {
  if (await insertResult(tx, { callerId, scope, key, fingerprint, resultId })) return
  throw new Collision(`The idempotency key ${key} was used meanwhile.`)
}

/** A call that its caller may repeat. */
interface KeyedCall {
  readonly callerId: string
  readonly idempotency: Idempotency
}

/**
 * Marks a call as begun before it is carried out. Returns what was kept of the first call with this key: `''` when it has begun and has not
 * ended. undefined: this is the first one. Errors: `idempotency-conflict`.
 */
export function beginCall(db: Database, { callerId, idempotency }: KeyedCall): Promise<string | undefined> {
  const begun = { callerId, scope: callScope, ...idempotency, resultId: '' }
  return db.transaction(async (tx) => {
    if (await insertResult(tx, begun)) return undefined
    const first = await findFirstResult(tx, callerId, callScope, idempotency)
    if (first === undefined) throw new Collision(`The idempotency key ${idempotency.key} was freed meanwhile.`)
    return first
  })
}

/** In the place of an answer, from the first commit of a call on. */
export const stored = 'stored'

/** Keeps the result of a call that has begun; `stored` in each of its own transactions. */
export function endCall(tx: Transaction, call: KeyedCall, result: string): Promise<void> {
  return endResult(tx, { ...rowOf(call), resultId: result })
}

/** Frees the key of a call that has failed, unless it has stored something. A commit that is still uncertain is waited for. */
export function freeCall(db: Database, call: KeyedCall): Promise<void> {
  return db.transaction((tx) => removeResult(tx, rowOf(call)))
}

const rowOf = ({ callerId, idempotency: { key } }: KeyedCall) => ({ callerId, scope: callScope, key })

/** Deletes the keys that are older than 24 hours. Returns how many. */
export function pruneIdempotencyKeys(
  db: Database,
  now: number,
  signal: AbortSignal,
  giveBack: Parameters<typeof removeResults>[3],
): Promise<number> {
  return removeResults(db, now - keptMs, signal, giveBack)
}
