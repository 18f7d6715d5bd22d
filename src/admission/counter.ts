import { type Caller, operator } from '../registry/callers/caller.ts'

/** The id by which a caller is counted: an agent with all of its keys, each key of an operator by itself. */
export function counterOf({ kind, id, keyId }: Pick<Caller, 'kind' | 'id' | 'keyId'>): string {
  return kind === 'operator' ? keyId : id
}

/** True of the admin key alone: it has to work when everybody else is refused. */
export function isUnlimited({ keyId }: Pick<Caller, 'keyId'>): boolean {
  return keyId === operator.keyId
}
