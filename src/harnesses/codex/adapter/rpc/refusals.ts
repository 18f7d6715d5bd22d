/** An error that the app-server answers. */
export class RpcError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.name = 'RpcError'
    this.code = code
  }
}

/** The connection has closed, or no answer came in time: whether the request was done is not known. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost'
}

/** The meaning of an answer, by its text: its code is -32600 for nearly all of them. Measured with 0.169. */
const meanings = {
  'no-such-method': /unknown variant|method not found/i,
  'not-experimental': /requires experimentalApi/i,
  'active-writer': /already has an active writer/i,
  // Its conversation is not on the disk: it was never prompted, or it is of another home.
  'no-history': /no rollout found|thread not found|thread not loaded|invalid thread id/i,
  'other-turn': /expected active turn|no active turn|activeTurnNotSteerable|cannot be steered/i,
} as const

const overloadedCode = -32001
const noSuchMethodCode = -32601

export type Refusal = keyof typeof meanings | 'overloaded' | 'other'

/** Returns what an error of the app-server means; undefined: it is not an answer of the app-server. Pure. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (!(error instanceof RpcError)) return undefined
  if (error.code === overloadedCode) return 'overloaded'
  if (error.code === noSuchMethodCode) return 'no-such-method'
  const named = Object.entries(meanings).find(([, pattern]) => pattern.test(error.message))
  return (named?.[0] as Refusal | undefined) ?? 'other'
}
