import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A secret of the data directory: read if it is there, made and kept (mode 0600) if it is not. It appears whole or not at
 * all, and two processes that start together end up with the same one.
 */
export async function loadOrCreateKeyFile(
  directory: string,
  name: string,
  create: () => string | Promise<string>,
): Promise<string> {
  const path = join(directory, name)
  const kept = readKey(path)
  if (kept !== undefined) return kept
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomUUID()}`
  const file = openSync(draft, 'w', 0o600)
  writeSync(file, `${await create()}\n`)
  fsyncSync(file)
  closeSync(file)
  try {
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
  return readKey(path) as string
}

function readKey(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
