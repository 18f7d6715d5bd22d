import type { Transaction } from '../../storage/database.ts'
import type { Caller } from '../callers/caller.ts'

/** The other side of a message: one agent, or all agents of a project. */
interface Peer {
  readonly id: string
  readonly identity: string
}

/** The receivers of a message. */
export interface Receivers {
  /** undefined: several agents, but not all of a project. */
  readonly peer: Peer | undefined
  /** How many agents get the message; default: 1. */
  readonly recipients?: number
}

/**
 * Counts a message in its transaction, before the transaction has written anything. Throws, and counts nothing, when a limit is reached.
 * The work that was given to `run` takes once; when its transaction runs again, it calls again and that counts once.
 */
export type TakeSend = (tx: Transaction, receivers: Receivers) => Promise<void>

/** The limits of mail and A2A messages, one count for both. Errors: `rate-limited`, `storm-breaker`, `recipient-storm`. Source: D22, S2-22. */
export interface SendLimits {
  /** Throws where this gateway knows that a message would be refused; without receivers, by the rates of its sender alone. */
  check(caller: Caller, receivers?: Receivers): void
  /** Runs work that sends one message. What it has taken is given back if it fails. */
  run<T>(caller: Caller, work: (take: TakeSend) => Promise<T>): Promise<T>
}
