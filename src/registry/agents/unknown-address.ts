import { Problem } from '../../errors.ts'
import { nearestNames } from '../../lib/nearest-names.ts'
import type { Reader } from '../../storage/database.ts'
import { type Caller, operates } from '../callers/caller.ts'
import { listNamesAround } from './agent-names.ts'
import { namesSession } from './role-addresses.ts'

interface AddressSearch {
  readonly projectId: string
  readonly name: string
  /** The field that had the address. */
  readonly field: string
}

const suggestionsMax = 5
/** A project may have thousands of names, and each that is compared takes microseconds of the only thread. */
const comparedMax = 200

/**
 * The problem of an address that names no agent. It is thrown within write transactions, which must not wait for a comparison of
 * names: so it has no candidates yet. `withNearestNames` adds them.
 */
export class UnknownAddress extends Problem {
  readonly sought: AddressSearch

  constructor(sought: AddressSearch, candidates: readonly string[] = []) {
    super('agent-not-found', {
      field: sought.field,
      detail: detailOf(sought, candidates),
      extra: { candidates },
      ...(candidates.length === 0 && { remedy: 'show-agents' }),
    })
    this.sought = sought
  }
}

/**
 * Adds to the problem of an unknown address the names that the caller may have meant, if it may know them. Other errors stay as
 * they are. It is called when the transaction has ended.
 */
export async function withNearestNames(reader: Reader, caller: Caller, error: unknown): Promise<unknown> {
  if (!(error instanceof UnknownAddress)) return error
  const { projectId, name } = error.sought
  if (projectId !== caller.projectId && !operates(caller, projectId)) return error
  const names = await listNamesAround(reader, projectId, `@${name.replace(/^@/, '').toLowerCase()}`, comparedMax)
  return new UnknownAddress(error.sought, nearestNames(name, names, suggestionsMax))
}

function detailOf({ projectId, name, field }: AddressSearch, candidates: readonly string[]): string {
  const gone = namesSession(name.toLowerCase()) ? ' A session ends with its process; use the handle.' : ''
  const hint = candidates.length > 0 ? ` Did you mean ${candidates.join(' or ')}?` : ''
  return `${field}: no agent of project ${projectId} has the address "${name}".${gone}${hint}`
}
