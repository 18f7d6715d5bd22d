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
  const key = await create()
  const draft = `${path}.${randomUUID()}`
  try {
    writeDurably(draft, `${key}\n`)
    linkSync(draft, path)
    syncDirectory(directory)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
  return readKey(path) as string
}

/** A secret of the data directory, or undefined where none was made. */
export function readKeyFile(directory: string, name: string): string | undefined {
  return readKey(join(directory, name))
}

function writeDurably(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** The name is on disk before anything that the key seals. Windows opens no directories and needs none of this. */
function syncDirectory(directory: string): void {
  try {
    const handle = openSync(directory, 'r')
    fsyncSync(handle)
    closeSync(handle)
  } catch (error) {
    if (!['EPERM', 'EISDIR', 'EACCES', 'EINVAL'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

function readKey(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
