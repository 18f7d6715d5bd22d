import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readVersion } from '../lib/version.ts'

export type Engine = 'sqlite' | 'postgres'

export interface Migration {
  readonly version: number
  readonly name: string
  /** The statements of its file. */
  readonly text: string
  /** SHA-256 of the text, in hex. */
  readonly hash: string
}

/** A row of `schema_migration`, of any build. Rows of the first builds have neither hash nor build. */
export interface AppliedMigration {
  readonly version: number
  readonly name: string
  /** ms since the epoch. */
  readonly applied_at: number
  readonly hash?: string | null
  /** The version of Rouse that applied it. */
  readonly build?: string | null
}

/** A store as it is found. */
export interface FoundSchema {
  /** In the order of their numbers. */
  readonly applied: readonly AppliedMigration[]
  /** A line for each column of each table and index: its name first, then what the engine says of the column. Read only where a hash is missing. */
  readonly columns: readonly string[]
}

/** The hash of the columns that the first migration makes. A store from before hashes were kept is known by them. */
const firstColumns: Readonly<Record<Engine, string>> = {
  sqlite: '08c5881ff5e92ce2ceef9def8ede38bfaee552c4c9299bb4a890c87e6c8168b0',
  postgres: '52977b837217205337727f3219ac96bfb79e49e9e4d2f21549b9b89cb9b81d6c',
}

/** Returns the numbered migrations of this build, in order. */
export function ownMigrations(engine: Engine): Migration[] {
  const directory = fileURLToPath(new URL(`../../drizzle/${engine}/`, import.meta.url))
  const names = readdirSync(directory).filter((name) => /^\d{4}_.+\.sql$/.test(name))
  return names.sort().map((name) => {
    const text = readFileSync(`${directory}${name}`, 'utf8').replaceAll('\r\n', '\n')
    return { version: Number(name.slice(0, 4)), name, text, hash: sha256(text) }
  })
}

/** Returns whether a store was last migrated by a build that kept no hashes. Its columns are needed to know it. */
export const lacksHash = (applied: readonly AppliedMigration[]): boolean => applied.some(({ hash }) => !hash)

/** Returns the migrations that a store does not have yet. Throws when its schema is not one that this build can serve. */
export function pendingMigrations(engine: Engine, own: readonly Migration[], found: FoundSchema): Migration[] {
  const refusal = refusalOf(engine, own, found)
  if (refusal !== undefined) throw new Error(refusal)
  return own.filter(({ version }) => !found.applied.some((row) => row.version === version))
}

/** Returns the hash of those columns that are of a table or an index that a migration makes: others may have added some of their own. */
export function columnsHash({ text }: Migration, columns: readonly string[]): string {
  const made = new Set(Array.from(text.matchAll(/^create (?:unique )?(?:table|index) (\w+)/gm), ([, name]) => name))
  const lines = columns.filter((line) => made.has(line.slice(0, line.indexOf(' '))))
  return sha256(lines.sort().join('\n'))
}

function refusalOf(engine: Engine, own: readonly Migration[], { applied, columns }: FoundSchema): string | undefined {
  const [first] = applied
  const newest = applied.at(-1)
  if (!first || !newest) return undefined
  const beginAgain = `Start the build that last served it, or begin a new store: ${
    engine === 'sqlite'
      ? 'name another data directory (--data-dir, ROUSE_DATA_DIR)'
      : 'name an empty database (ROUSE_DATABASE_URL)'
  }.`
  if (!first.hash) {
    if (first.name !== own[0]!.name) {
      return `The store is of an older counting of schemas: it ends with ${newest.name}, of ${dayOf(newest)}. This build does not read it, and no command carries its data over. ${beginAgain}`
    }
    if (newest.version > first.version || columnsHash(own[0]!, columns) !== firstColumns[engine]) {
      return `The store was made on ${dayOf(first)}, by an older build whose ${first.name} had other tables. This build does not read it, and no command carries its data over. ${beginAgain}`
    }
    return undefined
  }
  const other = applied.find(({ version, hash }) => own.find((one) => one.version === version)?.hash !== hash)
  if (!other) return undefined
  const builder = other.build ? `Rouse ${other.build}` : 'another build'
  const here = `this build (${readVersion()})`
  if (other.version > own.at(-1)!.version) {
    return `The store is newer than ${here}: ${builder} applied ${other.name} to it, and this build ends with ${own.at(-1)!.name}. Start that build or a newer one, or restore a copy of the store from before.`
  }
  return `The store has another schema ${other.version} than ${here}: ${builder} applied its own ${other.name} on ${dayOf(other)}. ${beginAgain}`
}

const dayOf = ({ applied_at }: AppliedMigration): string => new Date(Number(applied_at)).toISOString().slice(0, 10)

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
