import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/lib/clock.ts'
import { SqliteDatabase } from '../../src/storage/sqlite/sqlite-database.ts'

let migrated: Promise<Buffer> | undefined

/**
 * Puts a store into a data directory that has none: empty, and migrated as a first start does it. Migrating costs ten times as
 * much as copying what came out of it.
 */
export async function placeMigratedStore(dataDir: string): Promise<void> {
  const path = join(dataDir, 'rouse.db')
  if (!existsSync(dataDir) || existsSync(path)) return
  migrated ??= migrate()
  writeFileSync(path, await migrated, { mode: 0o600, flag: 'wx' })
}

async function migrate(): Promise<Buffer> {
  const directory = mkdtempSync(join(tmpdir(), 'rouse-template-'))
  try {
    await SqliteDatabase.open(directory, systemClock).close()
    return readFileSync(join(directory, 'rouse.db'))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
