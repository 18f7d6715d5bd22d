import type { AuditEntry, AuditRecord } from './entry.ts'

/** Like attempts, which share one record. */
interface Group {
  record: AuditRecord
  /** Whether the record differs from the written one. */
  isDirty: boolean
}

/** How many groups there may be, in all and of one caller. */
interface Bounds {
  readonly max: number
  readonly ofOneMax: number
}

/** Who made an attempt, and what it has in common with others of its group. */
export interface Kind {
  readonly caller: string
  readonly group: string
}

/**
 * The groups of a minute. Attempts beyond the groups of one caller share the last of them, so that it uses none of the others';
 * attempts of new callers, once there are as many groups as there may be, share one more.
 */
export class RefusalGroups {
  readonly #bounds: Bounds
  readonly #groups = new Map<string, Group>()
  readonly #countOf = new Map<string, number>()

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  /** Counts an attempt. Returns true for the first of its group. */
  add(entry: AuditEntry, kind: Kind, now: number, newRecord: (entry: AuditEntry) => AuditRecord): boolean {
    const group = this.#groups.get(kind.group)
    if (group) return count(group, now)
    const [key, kept] = this.#placeFor(entry, kind)
    const shared = this.#groups.get(key)
    if (shared) return count(shared, now)
    if (key !== ofMany) this.#countOf.set(kind.caller, (this.#countOf.get(kind.caller) ?? 0) + 1)
    this.#groups.set(key, { record: newRecord(kept), isDirty: true })
    return true
  }

  all(): Iterable<Group> {
    return this.#groups.values()
  }

  clear(): void {
    this.#groups.clear()
    this.#countOf.clear()
  }

  /** The group that an attempt of a new kind goes to, and the entry that names what is common to it. */
  #placeFor(entry: AuditEntry, { caller, group }: Kind): [key: string, entry: AuditEntry] {
    const { max, ofOneMax } = this.#bounds
    const ofOne = `${caller}\n*`
    if (this.#groups.has(ofOne)) return [ofOne, entry]
    if (this.#groups.size - Number(this.#groups.has(ofMany)) >= max) return [ofMany, manyOf(entry)]
    if ((this.#countOf.get(caller) ?? 0) < ofOneMax - 1) return [group, entry]
    return [ofOne, { ...entry, operation: '*', target: '' }]
  }
}

const ofMany = '*'

/** The entry that counts attempts of many callers. */
function manyOf(entry: AuditEntry): AuditEntry {
  return { ...entry, project: '', actor: '', callerId: '', keyId: '', address: '*', operation: '*', target: '' }
}

function count(group: Group, now: number): false {
  group.record = { ...group.record, lastAt: now, count: group.record.count + 1 }
  group.isDirty = true
  return false
}
