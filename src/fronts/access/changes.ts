import type { Caller } from '../../registry/callers/caller.ts'
import type { Shares } from '../../registry/shares/shares.ts'
import type { Operation } from './operation.ts'

/** Their rows count against `bytesStored`. */
const counted: ReadonlySet<string> = new Set([
  'message.send',
  'SendMessage',
  'SendStreamingMessage',
  'task.addArtifact',
])

const nothing = (): void => {}

/** Whether an operation adds rows that nothing but a rate bounds: the audit records it, and so does the log. */
export function isChange({ name, audited }: Operation): boolean {
  return isAct({ audited }) && !counted.has(name)
}

/** Whether an operation writes to the store. */
function isAct({ audited }: Pick<Operation, 'audited'>): boolean {
  return audited === 'first' || audited === 'soon'
}

/**
 * Checks that an agent may make one more change today. Returns the function that counts the change, for when it is made: what is refused
 * or fails costs nothing of it. Errors: `rate-limited`.
 */
export function beginChange(
  shares: Pick<Shares, 'requireLeft' | 'charge' | 'paceChange'>,
  operation: Operation,
  caller: Caller,
): () => void {
  if (isAct(operation)) shares.paceChange(caller)
  if (!isChange(operation)) return nothing
  // Of each key: a thief must not be able to use up what the owner of another key needs to end the theft.
  const of = operation.isRevocation ? caller.keyId : caller.id
  shares.requireLeft(caller, 'changesPerDay', of)
  return () => shares.charge(caller, 'changesPerDay', of)
}
