import { createRequire } from 'node:module'
import { versions } from 'node:process'
import Sqlite from 'better-sqlite3'

const { version } = createRequire(import.meta.url)('better-sqlite3/package.json') as { version: string }

/** Opens a SQLite file. Throws where this Node or this system does not run the SQLite that is installed. */
export function openSqlite(path: string, options: Sqlite.Options = {}): Sqlite.Database {
  const unfit = unfitNode(version, versions)
  if (unfit) throw new Error(unfit)
  try {
    return new Sqlite(path, options)
  } catch (error) {
    if (!/GLIBC/.test((error as Error).message)) throw error
    throw new Error(
      'The C library of this system is too old for SQLite: it needs glibc 2.34 and libstdc++ 11 or newer.',
      {
        cause: error,
      },
    )
  }
}

/**
 * The sentence for a Node that better-sqlite3 would crash without a word: from 13 on it needs Node-API 10, which Node has from 22.14 and
 * 23.6 on. Undefined: it runs.
 */
export function unfitNode(sqlite: string, { node, napi }: { node: string; napi?: string }): string | undefined {
  if (Number.parseInt(sqlite, 10) < 13 || Number(napi) >= 10) return undefined
  return `Node ${node} cannot run the SQLite that is installed here. Start Rouse with Node 22.14 or newer; for Node 20.19, install Rouse again with that one (npm ci).`
}
