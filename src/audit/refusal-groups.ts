import type { AuditEntry, AuditRecord } from './entry.ts'

/** Like attempts, which share one record. */
interface Group {
  record: AuditRecord
  /** Whether the record differs from the written one. */
  isDirty: boolean
}

/** How many groups there may be, and how many projects may have one more. */
interface Bounds {
  readonly max: number
  readonly ofOneMax: number
  readonly ofProjectMax: number
  readonly projectsMax: number
}

/** The group that an attempt goes to. */
interface Place {
  readonly key: string
  /** What is common to the attempts of the group. */
  readonly entry: AuditEntry
  /** Whether the group is of one caller, and counts as such. */
  readonly isOfOne: boolean
}

/** Who made an attempt, and what it has in common with others of its group. */
export interface Kind {
  readonly caller: string
  readonly group: string
}

/**
 * The groups of a minute. Attempts beyond the groups of one caller share the last of them, so that it uses none of the others'.
 * New attempts in a project that has as many groups as it may have, or in any once there are as many as there may be, share one
 * more of that project, so that its operators see them. When there are as many such projects as there may be, the others share one group.
 */
export class RefusalGroups {
  readonly #bounds: Bounds
  readonly #groups = new Map<string, Group>()
  readonly #countOf = new Map<string, number>()
  readonly #countIn = new Map<string, number>()
  #ofOnes = 0
  #projects = 0

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  /** Counts an attempt. Returns true for the first of its group. */
  add(entry: AuditEntry, kind: Kind, now: number, newRecord: (entry: AuditEntry) => AuditRecord): boolean {
    const group = this.#groups.get(kind.group)
    if (group) return count(group, now)
    const place = this.#placeFor(entry, kind)
    const shared = this.#groups.get(place.key)
    if (shared) return count(shared, now)
    if (place.isOfOne) this.#count(kind.caller, entry.project)
    else if (place.key !== ofMany) this.#projects++
    this.#groups.set(place.key, { record: newRecord(place.entry), isDirty: true })
    return true
  }

  all(): Iterable<Group> {
    return this.#groups.values()
  }

  clear(): void {
    this.#groups.clear()
    this.#countOf.clear()
    this.#countIn.clear()
    this.#ofOnes = 0
    this.#projects = 0
  }

  #count(caller: string, project: string): void {
    this.#ofOnes++
    this.#countOf.set(caller, (this.#countOf.get(caller) ?? 0) + 1)
    this.#countIn.set(project, (this.#countIn.get(project) ?? 0) + 1)
  }

  /** The group that an attempt of a new kind goes to. */
  #placeFor(entry: AuditEntry, { caller, group }: Kind): Place {
    const { max, ofOneMax, ofProjectMax } = this.#bounds
    const rest = { key: `${caller}\n*`, entry: { ...entry, operation: '*', target: '' }, isOfOne: true }
    if (this.#groups.has(rest.key)) return rest
    const isFull = this.#ofOnes >= max || (this.#countIn.get(entry.project) ?? 0) >= ofProjectMax
    if (isFull) return this.#sharedPlace(entry)
    return (this.#countOf.get(caller) ?? 0) < ofOneMax - 1 ? { key: group, entry, isOfOne: true } : rest
  }

  /** The group of many callers. */
  #sharedPlace(entry: AuditEntry): Place {
    const key = `${ofMany}\n${entry.project}`
    const ofProject = entry.project !== '' && (this.#groups.has(key) || this.#projects < this.#bounds.projectsMax)
    return ofProject
      ? { key, entry: manyOf(entry), isOfOne: false }
      : { key: ofMany, entry: { ...manyOf(entry), project: '' }, isOfOne: false }
  }
}

const ofMany = '*'

/** The entry that counts attempts of many callers in a project. */
function manyOf(entry: AuditEntry): AuditEntry {
  return { ...entry, actor: '', callerId: '', keyId: '', address: '*', operation: '*', target: '' }
}

function count(group: Group, now: number): false {
  group.record = { ...group.record, lastAt: now, count: group.record.count + 1 }
  group.isDirty = true
  return false
}
