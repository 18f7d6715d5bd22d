import type { Admission } from '../../admission/admission.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import type { Operation } from './operation.ts'

/** Their rows count against `bytesStored`. */
const counted: ReadonlySet<string> = new Set([
  'message.send',
  'SendMessage',
  'SendStreamingMessage',
  'task.addArtifact',
])

const nothing = (): void => {}

/** True when an operation adds rows that nothing but a rate bounds: the audit records it, and so does the log. */
export function isChange({ name, audited }: Operation): boolean {
  return isAct({ audited }) && !counted.has(name)
}

/** True when an operation writes to the store. */
export function isAct({ audited }: Pick<Operation, 'audited'>): boolean {
  return audited === 'first' || audited === 'soon'
}

/**
 * Checks that an agent may make one more change today. Returns the function that counts the change, for when it is made: what is refused
 * or fails costs nothing of it. Errors: `rate-limited`.
 */
export function beginChange(
  admission: Pick<Admission, 'requireLeft' | 'charge'>,
  operation: Operation,
  caller: Caller,
): () => void {
  // A thief must not be able to use up what the owner of another key needs to end the theft.
  if (!isChange(operation) || operation.isRevocation) return nothing
  admission.requireLeft(caller, 'changesPerDay')
  return () => admission.charge(caller, 'changesPerDay')
}
