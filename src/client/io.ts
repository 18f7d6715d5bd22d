import type { Readable } from 'node:stream'
import type { Fetch } from './client-fetch.ts'

/** Everything that a command may use of the process, so that a test can replace it. */
export interface Io {
  stdout(text: string): void
  stderr(text: string): void
  /** All of standard input. */
  stdin?(): string
  /** Standard input as it comes; absent: a terminal. */
  readonly input?: Readable | undefined
  /** Asks the person at the terminal for a secret, without showing it; absent: standard input is no terminal. */
  readonly askSecret?: (prompt: string) => Promise<string>
  /** Asks the person at the terminal a question; absent: standard input is no terminal. */
  readonly ask?: (question: string) => Promise<string>
  readonly env: Readonly<Record<string, string | undefined>>
  readonly fetch?: Fetch
  /** Aborts on Ctrl-C or SIGTERM. */
  readonly signal?: AbortSignal
  /** True when standard output is a terminal: a person reads it. */
  readonly isTerminal?: boolean
  /** True when standard output is a terminal that wants colour. */
  readonly color?: boolean
  readonly columns?: number
  /** The columns of standard error; absent: it is no terminal. */
  readonly errorColumns?: number | undefined
}
