import type { BeforeCommitWork } from '../before-commit.ts'
import type { Transaction } from '../database.ts'

/** The work of one caller, which shares a transaction with others, and the caller's promise. */
export interface Writer {
  readonly work: (tx: Transaction) => Promise<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
  /** How often the work has run without being committed. */
  tries: number
}

export type Result =
  | {
      readonly writer: Writer
      readonly value: unknown
      readonly hooks: readonly (() => void)[]
      readonly deferred: BeforeCommitWork
    }
  | { readonly writer: Writer; readonly error: unknown }

/** Why a group was not committed, and the writer that caused it, if it was one. `uncertain`: it may have been committed. */
export interface Loss {
  readonly cause: unknown
  readonly culprit: Writer | undefined
  readonly uncertain: boolean
}

/** The waiting writers, for a group that can still accept some. */
export interface Queue {
  /** Removes up to `max` writers from the queue. If more are waiting, another group is started for them. */
  take(max: number): readonly Writer[]
  /** `arrived` resolves when a writer is waiting. The caller then takes it from the queue, or another group does. */
  listen(): { readonly arrived: Promise<void>; stop(): void }
}
