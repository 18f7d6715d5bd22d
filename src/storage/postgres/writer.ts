import type { BeforeCommitWork } from '../before-commit.ts'
import type { Transaction } from '../database.ts'

/** Work that shares a transaction with others, and who waits for it. */
export interface Writer {
  readonly work: (tx: Transaction) => Promise<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
  /** How often it was run in vain. */
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

/** Why nothing of a group was kept: whose fault it is, where it is one writer's; `uncertain` where perhaps it was kept. */
export interface Loss {
  readonly cause: unknown
  readonly culprit: Writer | undefined
  readonly uncertain: boolean
}

/** Writers that queue, for a group that has time for more. */
export interface Queue {
  /** Takes up to `room` of them; the others get a connection of their own. */
  take(room: number): readonly Writer[]
  /** Hears of the next one, until it is told to stop. Whoever listens takes it, or has a lane that does. */
  listen(): { readonly heard: Promise<void>; stop(): void }
}
