import { operatorId } from '../registry/agents/identity.ts'
import { networkOf } from '../security/ip-address.ts'
import type { AuditEntry, AuditRecord } from './entry.ts'

const minuteMs = 60_000
/** Records that wait while the store accepts no writes. */
const waitingMax = 10_000
/** The records of a minute that say who was refused what: in a project, and of one caller. Further attempts are counted. */
export const detailed = { ofProjectMax: 125, ofCallerMax: 50 } as const

interface Counter {
  record: AuditRecord
  /** The record differs from the written one. */
  isDirty: boolean
}

/**
 * Counts refused attempts by the minute. Like attempts share one record: of one key, or from one network without a known key, at one
 * operation, with one outcome. Beyond the bounds there is one record for each project and outcome. Callers without a known key are a
 * project of their own, so they use up no record of those with one.
 */
export class RefusedAttempts {
  #minute = 0
  readonly #counters = new Map<string, Counter>()
  /** The detailed records of each project and caller. */
  readonly #detailed = new Map<string, number>()
  /** Unwritten records of earlier minutes. */
  readonly #leftOver = new Map<string, AuditRecord>()

  /** Counts an attempt. Returns true for the first of its record. */
  add(entry: AuditEntry, now: number, newRecord: (entry: AuditEntry) => AuditRecord): boolean {
    this.#startMinute(now)
    const { project, front, operation, outcome } = entry
    const like = JSON.stringify([project, keyOf(entry), front, operation, outcome])
    const of = { project: JSON.stringify([project]), caller: JSON.stringify([project, callerOf(entry)]) }
    const hasRoom = this.#room(of.project, detailed.ofProjectMax) && this.#room(of.caller, detailed.ofCallerMax)
    const isDetailed = this.#counters.has(like) || hasRoom
    const name = isDetailed ? like : JSON.stringify([project, outcome, '*'])
    const counter = this.#counters.get(name)
    if (counter) {
      counter.record = { ...counter.record, lastAt: now, count: counter.record.count + 1 }
      counter.isDirty = true
      return false
    }
    if (isDetailed) for (const one of Object.values(of)) this.#detailed.set(one, (this.#detailed.get(one) ?? 0) + 1)
    this.#counters.set(name, { record: newRecord(isDetailed ? entry : ofMany(entry)), isDirty: true })
    return true
  }

  /** Returns the records to write, and regards them as written. */
  take(now: number): AuditRecord[] {
    this.#startMinute(now)
    const dirty = [...this.#counters.values()].filter(({ isDirty }) => isDirty)
    for (const counter of dirty) counter.isDirty = false
    const records = [...this.#leftOver.values(), ...dirty.map(({ record }) => record)]
    this.#leftOver.clear()
    return records
  }

  /** Takes back records that could not be written. The next write has them once, with the counts of that time. */
  putBack(records: readonly AuditRecord[]): void {
    const living = new Map([...this.#counters.values()].map((counter) => [counter.record.id, counter]))
    for (const record of records) {
      const counter = living.get(record.id)
      if (counter) counter.isDirty = true
      // Its minute may have ended during the write: then the later count is there already.
      else if (!this.#leftOver.has(record.id)) this.#leave(record)
    }
  }

  #room(of: string, max: number): boolean {
    return (this.#detailed.get(of) ?? 0) < max
  }

  #startMinute(now: number): void {
    const minute = Math.floor(now / minuteMs)
    if (minute === this.#minute) return
    for (const { record, isDirty } of this.#counters.values()) if (isDirty) this.#leave(record)
    this.#counters.clear()
    this.#detailed.clear()
    this.#minute = minute
  }

  #leave(record: AuditRecord): void {
    if (this.#leftOver.size < waitingMax) this.#leftOver.set(record.id, record)
  }
}

/** An IPv6 client has a whole network of addresses. */
const keyOf = ({ keyId, address }: AuditEntry): string => keyId || networkOf(address)

/** An agent has many keys. */
const callerOf = (entry: AuditEntry): string =>
  entry.keyId !== '' && entry.callerId !== operatorId ? entry.callerId || entry.keyId : keyOf(entry)

/** The entry that counts the attempts of many callers with one outcome in a project. */
function ofMany(entry: AuditEntry): AuditEntry {
  return { ...entry, actor: '', callerId: '', keyId: '', address: '*', operation: '*', target: '' }
}
