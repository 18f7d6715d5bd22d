import { BeforeCommitWork } from '../before-commit.ts'
import type { Transaction } from '../database.ts'
import type { Connection } from './connection.ts'

interface OpenTransaction {
  readonly tx: Transaction
  /** The hooks that run once the commit is durable. */
  readonly hooks: readonly (() => void)[]
  readonly closings: BeforeCommitWork
  /** From now on every use of `tx` throws. */
  end(): void
}

/** Opens the transaction of one writer of a group, on the connection of the group. */
export function openTransaction(connection: Connection, now: number): OpenTransaction {
  const hooks: (() => void)[] = []
  const closings = new BeforeCommitWork()
  let over = false
  // Work that its writer did not await would end up in the next writer's savepoint, or in none.
  const open = (): Connection => {
    if (over) throw new Error('A transaction was used after its end: something in it was not awaited.')
    return connection
  }
  const { changes } = connection
  const tx: Transaction = {
    now,
    get hasWritten() {
      return connection.changes !== changes
    },
    all: async (statement, params) => open().all(statement, params),
    get: async (statement, params) => open().get(statement, params),
    run: async (statement, params) => open().run(statement, params),
    onCommit: (work) => hooks.push(work),
    beforeCommit: (closing, item) => closings.add(closing, item),
  }
  const end = (): void => {
    over = true
  }
  return { tx, hooks, closings, end }
}
