/** The limits of both ends of the local socket. One JSON object a line, in both directions. */
export const localLimits = {
  /** The longest line, with its end. */
  lineBytes: 65_536,
  connections: 1_000,
  /** How long a connection may go without a complete line before it has attached. */
  firstLineMs: 10_000,
  /** How often the bridge asks who is attached whether it lives. */
  pingMs: 30_000,
  /** An end that has sent nothing for this long is gone. */
  silenceMs: 90_000,
  /** How long a client may take to acknowledge a wake. */
  takenMs: 10_000,
  /** How long a client may take to answer whether it has taken one. */
  answerMs: 5_000,
} as const

/** How the proof of a recipe stands. */
export interface ProofState {
  readonly state: 'running' | 'proven' | 'failed'
  /** The cause of a wait, the evidence, or the reason of a failure. */
  readonly detail: string
}

/** The messages of the bridge to its clients. */
export type BridgeMessage =
  | { readonly type: 'attached' }
  | { readonly type: 'ping' }
  | {
      readonly type: 'wake'
      readonly wake: { readonly id: string; readonly text: string; readonly lines: string }
    }
  /** Has it taken this wake? For who has given an `instance`. */
  | { readonly type: 'ask'; readonly wakeId: string }
  | { readonly type: 'status'; readonly status: unknown }
  | ({ readonly type: 'proof' } & ProofState)
  /** The line was not understood. The connection ends. */
  | { readonly type: 'error'; readonly error: string }

/** One message as its line. */
export function lineOf(message: object): string {
  return `${JSON.stringify(message)}\n`
}
