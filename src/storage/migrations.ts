import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

interface Migration {
  readonly version: number
  readonly name: string
  /** The statements of its file. */
  readonly text: string
}

/**
 * Returns the numbered migrations of an engine that a store does not have yet, in order. Throws when the store is newer than this
 * version of Rouse, which would read it wrongly.
 */
export function pendingMigrations(engine: 'sqlite' | 'postgres', applied: number): Migration[] {
  const directory = fileURLToPath(new URL(`../../drizzle/${engine}/`, import.meta.url))
  const migrations = readdirSync(directory)
    .filter((name) => /^\d{4}_.+\.sql$/.test(name))
    .sort()
    .map((name) => ({ version: Number(name.slice(0, 4)), name }))
  const newest = migrations.at(-1)?.version ?? 0
  if (applied > newest) {
    throw new Error(
      `The store is at schema ${applied} and this build knows schemas up to ${newest}. Start the newer build, or restore a copy made by this one.`,
    )
  }
  return migrations
    .filter(({ version }) => version > applied)
    .map((migration) => ({ ...migration, text: readFileSync(`${directory}${migration.name}`, 'utf8') }))
}
