import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { newUlid } from '../lib/ids.ts'
import type { Sweep } from '../lib/sweeper.ts'
import { operatorId } from '../registry/agents/identity.ts'
import { defaultProject } from '../registry/projects/project-store.ts'
import { KeyFile, makeDirectoryBeside, readKeyFile } from '../security/key-files.ts'
import type { Database } from '../storage/database.ts'
import { operatorIdentity } from '../words/callers.ts'
import { targetMax } from './audit.ts'
import { writeAudit } from './audit-store.ts'
import type { AuditRecord } from './entry.ts'
import { printable } from './printable.ts'

/** The act of a command on a store or its keys without a gateway. Its rights are those of a user of the machine, not those of a key. */
export interface LocalAct {
  readonly operation: 'adminKey.rotate' | 'cardKey.rotate' | 'store.rekey' | 'store.migrate'
  readonly target: string
  readonly outcome: 'ok' | 'failed' | 'incomplete'
}

/** Returns the record of an act. `user`: who ran the command, and where, e.g. `donna@build-7`. */
export function recordOf({ operation, target, outcome }: LocalAct, user: string, now: number): AuditRecord {
  return {
    id: newUlid(now),
    at: now,
    lastAt: now,
    count: 1,
    project: defaultProject,
    actor: operatorIdentity,
    callerId: operatorId,
    keyId: '',
    address: printable(user, targetMax),
    front: 'cli',
    operation,
    target: printable(target, targetMax),
    outcome,
  }
}

/** The row of a record, for a copy of the store that is not open yet. */
export function auditRow({ lastAt, project, callerId, keyId, ...same }: AuditRecord): Record<string, string | number> {
  return { ...same, last_at: lastAt, project_id: project, caller_id: callerId, key_id: keyId }
}

/** Records an act in a store that the command has open. Resolves when the record is durable. */
export function keepLocalAct(db: Database, record: AuditRecord): Promise<void> {
  return db.transaction((tx) => writeAudit(tx, [record]))
}

/**
 * Leaves the record of an act in a data directory, for the gateway that has its store open, or opens it next. A file for each record
 * appears as a whole. Resolves when it is durable.
 */
export async function leaveLocalAct(dataDir: string, record: AuditRecord): Promise<void> {
  const text = JSON.stringify(record)
  makeDirectoryBeside(placeIn(dataDir))
  await new KeyFile(placeIn(dataDir), `${record.id}.json`).load(() => text)
}

/**
 * Takes the records that commands have left in a data directory into its store. After a crash they are written again, under the same ids.
 * A file that is no record keeps none of the others back. Throws an Error that names the first of those, when the others are written.
 */
export async function takeLocalActs(db: Database, dataDir: string): Promise<void> {
  const place = placeIn(dataDir)
  const files = namesIn(place).map((name) => ({ path: join(place, name), found: readRecord(place, name) }))
  const read = files.filter((file): file is { path: string; found: AuditRecord } => !(file.found instanceof Error))
  if (read.length > 0)
    await db.transaction((tx) =>
      writeAudit(
        tx,
        read.map(({ found }) => found),
      ),
    )
  for (const { path } of read) rmSync(path)
  for (const { found } of files) if (found instanceof Error) throw found
}

/** Takes what commands leave while the gateway of an embedded store runs. */
export function localActSweep(db: Database, dataDir: string): Sweep {
  return {
    name: 'local-acts',
    everyMs: 5_000,
    async run() {
      await takeLocalActs(db, dataDir)
      return false
    },
  }
}

const placeIn = (dataDir: string): string => join(dataDir, 'audit-waiting')

function namesIn(place: string): string[] {
  try {
    return readdirSync(place).filter((name) => /^[0-9A-Z]{26}\.json$/.test(name))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

const record = z.strictObject({
  id: z.string(),
  at: z.int(),
  lastAt: z.int(),
  count: z.int(),
  project: z.string(),
  actor: z.string(),
  callerId: z.string(),
  keyId: z.string(),
  address: z.string(),
  front: z.literal('cli'),
  operation: z.string(),
  target: z.string(),
  outcome: z.string(),
})

function readRecord(place: string, name: string): AuditRecord | Error {
  try {
    return record.parse(JSON.parse(readKeyFile(place, name)!))
  } catch (cause) {
    const path = join(place, name)
    return new Error(`${path} is not the record of a command, or cannot be read. Repair it, or move it away.`, {
      cause,
    })
  }
}
