import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { Connection } from './sqlite/connection.ts'
import { lockFile } from './sqlite/file-lock.ts'
import type { Statement } from './statement.ts'

/** A small SQLite file of one program of this user's. A call that has returned is on the disk. */
export interface StateFile extends Disposable {
  all<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Row[]
  get<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Row | undefined
  /** Returns how many rows it has changed. */
  run<Params extends object>(statement: Statement<Params, unknown>, params: Params): number
}

/**
 * Opens or makes a state file that only its owner can read. `schema`: the script of each version, the oldest first; those that the file
 * has not seen are run. Errors: of SQLite, with its `code`; a file of a newer version.
 */
export function openStateFile(
  path: string,
  schema: readonly string[],
  { readonly = false }: { readonly readonly?: boolean } = {},
): StateFile {
  if (!readonly) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    closeSync(openSync(path, 'a', 0o600))
  }
  const connection = new Connection(path, { readonly })
  try {
    // One small commit now and then: it waits for the disk on this thread.
    if (!readonly) connection.raw.pragma('synchronous = FULL')
    update(connection, schema, readonly)
  } catch (error) {
    connection.close()
    throw error
  }
  return {
    all: (statement, params) => connection.all(statement, params),
    get: (statement, params) => connection.get(statement, params),
    run: (statement, params) => connection.run(statement, params),
    [Symbol.dispose]: () => connection.close(),
  }
}

/**
 * Takes the lock of a state file, in a file beside it: one process holds it while it lives. Returns what releases it; undefined when
 * another process has it.
 */
export function lockStateFile(path: string): (() => void) | undefined {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  return lockFile(`${path}.lock`)
}

function update({ raw }: Connection, schema: readonly string[], readonly: boolean): void {
  const version = raw.pragma('user_version', { simple: true }) as number
  if (version > schema.length) {
    throw new Error(`version ${version} is of a newer Rouse than this one, which knows ${schema.length}`)
  }
  if (version < schema.length && readonly)
    throw new Error(`version ${version} is of an older Rouse: the program that writes it brings it up to date`)
  const damage = raw.pragma('quick_check(1)', { simple: true })
  if (damage !== 'ok') throw Object.assign(new Error(String(damage)), { code: 'SQLITE_CORRUPT' })
  for (let next = version; next < schema.length; next++) {
    raw.transaction(() => {
      raw.exec(schema[next]!)
      raw.pragma(`user_version = ${next + 1}`)
    })()
  }
}
