import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Left in a data directory whose store was copied to PostgreSQL. */
const markName = 'migrated'

/** Marks a data directory: a gateway that started on it again would deliver what the gateways of the new store deliver too. */
export function markMigrated(directory: string, place: string, now: number): void {
  writeFileSync(join(directory, markName), `${place} ${new Date(now).toISOString()}\n`, { mode: 0o600 })
}

/** Throws for a data directory whose store was copied. */
export function requireNotMigrated(directory: string): void {
  const path = join(directory, markName)
  const mark = readMark(path)
  if (mark === undefined) return
  const [place = '', at = ''] = mark.trim().split(' ')
  throw new Error(
    `The store in ${directory} was copied to PostgreSQL at ${place} on ${at}: what is here is old, and its wakes would be sent again. ` +
      `Set ROUSE_DATABASE_URL. If the copy is not used and never will be, remove ${path}.`,
  )
}

/** Throws for a data directory that has no embedded store, or whose store was copied: gateways may have another one. */
export function requireEmbeddedStore(directory: string): void {
  requireNotMigrated(directory)
  if (existsSync(join(directory, 'rouse.db'))) return
  throw new Error(
    `There is no store in ${directory}, so nothing was changed. If its gateways use PostgreSQL, set ROUSE_DATABASE_URL as they have it. ` +
      "Otherwise name the gateway's data directory (--data-dir, ROUSE_DATA_DIR); the first start of the gateway makes its store: rouse serve",
  )
}

function readMark(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
