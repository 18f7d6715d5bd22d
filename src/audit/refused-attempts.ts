import { auditLimits } from '../gateway-limits.ts'
import { operatorId } from '../registry/agents/identity.ts'
import { networkOf } from '../security/ip-address.ts'
import type { AuditEntry, AuditRecord } from './entry.ts'
import { type Kind, RefusalGroups } from './refusal-groups.ts'

const minuteMs = 60_000
const { refusals, refusalsOfOne, refusalsOfProject, refusedProjects } = auditLimits
const half = refusals.max / 2
const ofOneMax = refusalsOfOne.max
const projectsMax = refusedProjects.max
const boundsOfKnown = { max: half - projectsMax, ofOneMax, ofProjectMax: refusalsOfProject.max, projectsMax }
/** They are in no project. */
const boundsOfStrangers = { max: half, ofOneMax, ofProjectMax: half, projectsMax: 0 }

/**
 * Counts refused attempts. Attempts of one key (or from one network without a known key) at one operation within a minute share one
 * record. The number of records a minute is bounded, for known keys and for strangers apart: who has no key cannot use up the
 * records that say what those with one did, nor the other way round. Nor can the callers of one project use up those of another.
 */
export class RefusedAttempts {
  #minute = 0
  readonly #known = new RefusalGroups(boundsOfKnown)
  readonly #strangers = new RefusalGroups(boundsOfStrangers)
  /** Unwritten records of earlier minutes. */
  readonly #leftOver = new Map<string, AuditRecord>()

  /** Counts an attempt. Returns true for the first of its kind in this minute. */
  add(entry: AuditEntry, now: number, newRecord: (entry: AuditEntry) => AuditRecord): boolean {
    this.#startMinute(now)
    const groups = entry.keyId === '' ? this.#strangers : this.#known
    return groups.add(entry, kindOf(entry), now, newRecord)
  }

  /** Returns the records to write, and regards them as written. */
  take(now: number): AuditRecord[] {
    this.#startMinute(now)
    const records = [...this.#leftOver.values()]
    this.#leftOver.clear()
    for (const group of this.#groups()) {
      if (group.isDirty) records.push(group.record)
      group.isDirty = false
    }
    return records
  }

  /** Takes back records that could not be written. The next write has them once, with the counts of that time. */
  putBack(records: readonly AuditRecord[]): void {
    const living = new Map(this.#groups().map((group) => [group.record.id, group]))
    for (const record of records) {
      const group = living.get(record.id)
      if (group) group.isDirty = true
      // Its minute may have ended during the write: then the later count is there already.
      else if (!this.#leftOver.has(record.id)) this.#leave(record)
    }
  }

  #startMinute(now: number): void {
    const minute = Math.floor(now / minuteMs)
    if (minute === this.#minute) return
    for (const { record, isDirty } of this.#groups()) if (isDirty) this.#leave(record)
    this.#known.clear()
    this.#strangers.clear()
    this.#minute = minute
  }

  #leave(record: AuditRecord): void {
    if (this.#leftOver.size < auditLimits.waiting.max) this.#leftOver.set(record.id, record)
  }

  #groups() {
    return [...this.#known.all(), ...this.#strangers.all()]
  }
}

/** An agent has many keys, and an IPv6 client a whole network of addresses: all of them are one caller. */
function kindOf({ keyId, callerId, address, project, front, operation, outcome }: AuditEntry): Kind {
  const key = keyId === '' ? networkOf(address) : keyId
  const isAgent = keyId !== '' && callerId !== '' && callerId !== operatorId
  return { caller: isAgent ? callerId : key, group: [project, key, front, operation, outcome].join('\n') }
}
