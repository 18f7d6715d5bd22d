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

/** The hash of the columns that the first migration makes. A store from before hashes were kept is known by them. */
const firstColumns: Readonly<Record<Engine, string>> = {
  sqlite: '08c5881ff5e92ce2ceef9def8ede38bfaee552c4c9299bb4a890c87e6c8168b0',
  postgres: '52977b837217205337727f3219ac96bfb79e49e9e4d2f21549b9b89cb9b81d6c',
}

const newPlaces: Readonly<Record<Engine, string>> = {
  sqlite: 'name another data directory (--data-dir, ROUSE_DATA_DIR)',
  postgres: 'name an empty database (ROUSE_DATABASE_URL)',
}

/** The placeholders of a migration: its words that differ between the engines. `byKey`: the rows of a table are in its key. */
const words: Readonly<Record<Engine, Readonly<Record<string, string>>>> = {
  sqlite: { int: 'integer', key: 'text', byKey: ' without rowid' },
  postgres: { int: 'bigint', key: 'text collate "C"', byKey: '' },
}

/** Returns the text of a migration for an engine: with its words, and without the lines that are for the other alone. Throws for an unknown placeholder. */
export function renderMigration(template: string, engine: Engine): string {
  const other = engine === 'sqlite' ? '{postgres}' : '{sqlite}'
  const lines = template.split('\n').filter((line) => !line.startsWith(other))
  return lines.join('\n').replace(/\{(\w+)\}/g, (placeholder, word: string) => {
    const text = word === engine ? '' : words[engine][word]
    if (text === undefined) throw new Error(`A migration has an unknown placeholder: ${placeholder}.`)
    return text
  })
}

/** The first migration, which is written for each engine: stores have its hashes. */
const firstName = '0001_schema.sql'

/** Returns the numbered migrations of this build, in order. */
export function ownMigrations(engine: Engine): Migration[] {
  const directory = fileURLToPath(new URL('../../drizzle/', import.meta.url))
  const read = (path: string) => readFileSync(`${directory}${path}`, 'utf8').replaceAll('\r\n', '\n')
  const later = readdirSync(directory).filter((name) => /^\d{4}_.+\.sql$/.test(name))
  return [firstName, ...later.sort()].map((name) => {
    const text = name === firstName ? read(`${engine}/${name}`) : renderMigration(read(name), engine)
    return { version: Number(name.slice(0, 4)), name, text, hash: sha256(text) }
  })
}

/** Returns whether a store was migrated by a build that kept no hashes. Then `columns` are needed to know it. */
export const lacksHash = (applied: readonly AppliedMigration[]): boolean => applied.some(({ hash }) => !hash)

/**
 * Returns the migrations that a store does not have yet. Throws when its schema is not one that this build can serve.
 * @param applied in the order of their numbers
 * @param columns a line for each column of each table and index: its name first, then what the engine says of the column
 */
export function pendingMigrations(
  engine: Engine,
  own: readonly Migration[],
  applied: readonly AppliedMigration[],
  columns: readonly string[],
): Migration[] {
  const [first, newest] = [applied[0], applied.at(-1)]
  if (!first || !newest) return [...own]
  const other = applied.find(({ version, hash }) => own.find((one) => one.version === version)?.hash !== hash)
  const again = `Start the build that last served it, or begin a new store: ${newPlaces[engine]}.`
  if (!first.hash) {
    const lost = `This build does not read it, and no command carries its data over. ${again}`
    if (first.name !== own[0]!.name)
      throw new Error(
        `The store is of an older counting of schemas: it ends with ${newest.name}, of ${dayOf(newest)}. ${lost}`,
      )
    if (newest !== first || columnsHash(own[0]!, columns) !== firstColumns[engine])
      throw new Error(
        `The store was made on ${dayOf(first)}, by an older build whose ${first.name} had other tables. ${lost}`,
      )
  } else if (other) {
    const last = own.at(-1)!
    const here = `this build (${readVersion()})`
    const builder = newest.build ? `Rouse ${newest.build}` : 'another build'
    throw new Error(
      other.version > last.version
        ? `The store is newer than ${here}: ${builder} migrated it to ${newest.name}, and this build ends with ${last.name}. Start that build or a newer one, or restore a copy of the store from before.`
        : `The store has another ${other.name} than ${here}: ${builder} migrated it on ${dayOf(newest)}. ${again}`,
    )
  }
  return own.filter(({ version }) => applied.every((row) => row.version !== version))
}

/** The columns of other tables and indexes are left out: other programs may have made some. */
function columnsHash({ text }: Migration, columns: readonly string[]): string {
  const made = new Set(Array.from(text.matchAll(/^create (?:unique )?(?:table|index) (\w+)/gm), ([, name]) => name))
  const lines = columns.filter((line) => made.has(line.slice(0, line.indexOf(' '))))
  return sha256(lines.sort().join('\n'))
}

const dayOf = ({ applied_at }: AppliedMigration): string => new Date(applied_at).toISOString().slice(0, 10)

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
