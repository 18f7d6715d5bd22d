import { Problem } from '../errors.ts'
import type { Database } from '../storage/database.ts'
import { writeAudit } from './audit-store.ts'
import type { AuditRecord } from './entry.ts'

/** How many transactions one call begins at most. It finds one bad record among 10,000 with 28. */
const triesMax = 100

interface Storing {
  /** Records that the store refuses each by itself, while it accepts others. */
  readonly refused: readonly AuditRecord[]
  /** Records that are to be stored later. */
  readonly left: readonly AuditRecord[]
  /** The last error. undefined: everything is stored. */
  readonly error: unknown
}

/**
 * Stores records in one transaction. When the store refuses it, the halves are stored, and the halves of those: a record that cannot
 * be stored holds up no other. During an outage, or when the store accepts none of them, all that are not stored are left for later.
 */
export async function storeRecords(db: Database, records: readonly AuditRecord[]): Promise<Storing> {
  const untried: (readonly AuditRecord[])[] = [records]
  const refused: AuditRecord[] = []
  let error: unknown
  for (let tries = 0; tries < triesMax && !isOutage(error); tries++) {
    const some = untried.pop()
    if (!some) break
    try {
      await db.transaction((tx) => writeAudit(tx, some))
    } catch (failure) {
      error = failure
      const half = some.length >> 1
      if (isOutage(failure)) untried.push(some)
      else if (half === 0) refused.push(...some)
      else untried.push(some.slice(half), some.slice(0, half))
    }
  }
  const left = untried.reverse().flat()
  const acceptsNone = left.length + refused.length === records.length
  // The others come first the next time, so that any number of bad ones is passed in the end.
  return acceptsNone ? { refused: [], left: [...left, ...refused], error } : { refused, left, error }
}

function isOutage(error: unknown): boolean {
  return error instanceof Problem && error.code === 'storage-unavailable'
}
