import { hostname, userInfo } from 'node:os'
import { keepLocalAct, type LocalAct, leaveLocalAct, recordOf } from '../../audit/local-acts.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Database } from '../../storage/database.ts'

/** Where the record of a command goes: the store that it has open, or the data directory whose gateway may have it open. */
type Place = { readonly database: Database } | { readonly dataDir: string }

/** Records in the audit what a command has done. Rejects, and says that it is done, if it cannot be recorded. */
export async function recordAct(place: Place, act: LocalAct, clock: Clock): Promise<void> {
  const record = recordOf(act, whoRunsThis(), clock.now())
  try {
    if ('database' in place) await keepLocalAct(place.database, record)
    else await leaveLocalAct(place.dataDir, record)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    const done = `${act.operation} ${act.target} (${act.outcome})`
    throw new Error(`This was done, but the audit could not record it: ${done}. ${why}`, { cause })
  }
}

/** The user of the machine, and the machine: `donna@build-7`. A container may have no name for its user. */
export function whoRunsThis(): string {
  return `${userName()}@${hostname()}`
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    return 'unknown'
  }
}
