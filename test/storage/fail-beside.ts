import { vi } from 'vitest'
import type { Transaction } from '../../src/storage/database.ts'
import { GroupCommit } from '../../src/storage/sqlite/group-commit.ts'
import { sql, statement } from '../../src/storage/statement.ts'

const change = statement<object>(sql`update project set log_head = log_head + 1`)

/**
 * Adds a failing write to the group of the next write. It fails after it has changed a row, so SQLite rolls the group back and runs the
 * next write again. The returned function says whether that has happened to a write that appends events. The caller restores all mocks.
 */
export function failBesideNextWrite(): () => Promise<boolean> {
  let hasRunAgain = false
  const transaction = GroupCommit.prototype.transaction
  vi.spyOn(GroupCommit.prototype, 'transaction').mockImplementationOnce(function <T>(
    this: GroupCommit,
    work: (tx: Transaction) => Promise<T>,
  ): Promise<T> {
    let runs = 0
    const counted = (tx: Transaction): Promise<T> => {
      runs += 1
      const beforeCommit: Transaction['beforeCommit'] = (closing, item) => {
        hasRunAgain = runs > 1
        tx.beforeCommit(closing, item)
      }
      return work({ ...tx, beforeCommit })
    }
    const written = transaction.call(this, counted) as Promise<T>
    const failing = async (tx: Transaction): Promise<void> => {
      await tx.run(change, {})
      throw new Error('fails beside the write')
    }
    transaction.call(this, failing).catch(() => {})
    return written
  } as never)
  return async () => hasRunAgain
}
