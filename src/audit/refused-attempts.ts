import { auditLimits } from '../gateway-limits.ts'
import type { AuditEntry, AuditRecord } from './entry.ts'

const minuteMs = 60_000

interface Group {
  record: AuditRecord
  isDirty: boolean
}

/**
 * Counts refused attempts. Attempts with one key (or from one address without a known key) at one operation within a minute
 * share one record. The number of records a minute is bounded; attempts beyond it share one more record.
 */
export class RefusedAttempts {
  #minute = 0
  readonly #groups = new Map<string, Group>()
  /** Unwritten records of earlier minutes. */
  #leftOver: AuditRecord[] = []

  /** Counts an attempt. Returns true for the first of its kind in this minute. */
  add(entry: AuditEntry, now: number, newRecord: (entry: AuditEntry) => AuditRecord): boolean {
    this.#startMinute(now)
    const key = keyOf(entry)
    const group = this.#groups.get(key) ?? (this.#isFull ? this.#groups.get(beyond) : undefined)
    if (group) {
      group.record = { ...group.record, lastAt: now, count: group.record.count + 1 }
      group.isDirty = true
      return false
    }
    const kept = this.#isFull ? manyOf(entry) : entry
    this.#groups.set(this.#isFull ? beyond : key, { record: newRecord(kept), isDirty: true })
    return true
  }

  /** Returns the records to write, and regards them as written. */
  take(now: number): AuditRecord[] {
    this.#startMinute(now)
    const records = this.#leftOver
    this.#leftOver = []
    for (const group of this.#groups.values()) {
      if (group.isDirty) records.push(group.record)
      group.isDirty = false
    }
    return records
  }

  /** Takes back records that could not be written. The next write has them, with the counts of that time. */
  putBack(records: readonly AuditRecord[]): void {
    const living = new Map([...this.#groups.values()].map((group) => [group.record.id, group]))
    for (const record of records) {
      const group = living.get(record.id)
      if (group) group.isDirty = true
      else if (this.#leftOver.length < auditLimits.waiting.max) this.#leftOver.push(record)
    }
  }

  get #isFull(): boolean {
    return this.#groups.size >= auditLimits.refusals.max
  }

  #startMinute(now: number): void {
    const minute = Math.floor(now / minuteMs)
    if (minute === this.#minute) return
    for (const { record, isDirty } of this.#groups.values()) {
      if (isDirty && this.#leftOver.length < auditLimits.waiting.max) this.#leftOver.push(record)
    }
    this.#groups.clear()
    this.#minute = minute
  }
}

const beyond = 'beyond'

function keyOf({ keyId, address, front, operation, outcome, project }: AuditEntry): string {
  return `${project}\n${keyId === '' ? address : keyId}\n${front}\n${operation}\n${outcome}`
}

/** The entry that counts attempts from many addresses. */
function manyOf(entry: AuditEntry): AuditEntry {
  return { ...entry, project: '', actor: '', callerId: '', keyId: '', address: '*', operation: '*', target: '' }
}
