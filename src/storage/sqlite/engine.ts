import { createRequire } from 'node:module'
import { versions } from 'node:process'
import Sqlite from 'better-sqlite3'

const { version } = createRequire(import.meta.url)('better-sqlite3/package.json') as { version: string }
const isForNewerNode = Number.parseInt(version, 10) >= 13 && Number.parseInt(versions.node, 10) < 22

/** Opens a SQLite file. Throws where Node is older than the one that installed Rouse: SQLite would end the process without a word. */
export function openSqlite(path: string, options: Sqlite.Options = {}): Sqlite.Database {
  if (!isForNewerNode) return new Sqlite(path, options)
  throw new Error(
    `Rouse was installed with a newer Node than the ${versions.node} that runs it. Start it with Node 22 or newer, or install it again with this one (npm ci).`,
  )
}
