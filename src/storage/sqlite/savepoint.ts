import type { Connection } from './connection.ts'

/** The point in a transaction to which the changes of one writer are undone. Its statements are prepared, because they run for many writers. */
export class Savepoint {
  readonly set: () => void
  readonly release: () => void
  readonly #rollBack: () => void

  constructor(connection: Connection) {
    this.set = connection.control('SAVEPOINT writer')
    this.release = connection.control('RELEASE writer')
    this.#rollBack = connection.control('ROLLBACK TO writer')
  }

  /** Undoes the changes since `set`, and releases it. */
  undo(): void {
    this.#rollBack()
    this.release()
  }
}
