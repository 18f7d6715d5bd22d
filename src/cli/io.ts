import type { Fetch } from './client-fetch.ts'

/** All that a command may touch of the world around it, so that a test can stand in for the process. */
export interface Io {
  stdout(text: string): void
  stderr(text: string): void
  /** All of standard input. */
  stdin?(): string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly fetch?: Fetch
  /** Aborts on Ctrl-C or SIGTERM. */
  readonly signal?: AbortSignal
  /** Whether standard output is a terminal that wants colour. */
  readonly color?: boolean
  readonly columns?: number
}
