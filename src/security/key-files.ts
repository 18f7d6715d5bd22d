import { randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  fchownSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { ownUid } from '../lib/own-uid.ts'
import type { KeptSecret } from './kept-secret.ts'

/**
 * A secret in a file of the data directory, mode 0600. It appears and changes as a whole or not at all. What root writes belongs to
 * the user of the gateway, who could not read it otherwise.
 */
export class KeyFile implements KeptSecret {
  readonly path: string

  constructor(directory: string, name: string) {
    this.path = join(directory, name)
  }

  async read(): Promise<string | undefined> {
    return readKey(this.path)
  }

  /** Two processes that start at the same time get the same secret. */
  async load(make: () => string | Promise<string>): Promise<string> {
    const found = readKey(this.path)
    if (found !== undefined) return found
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 })
    const key = await make()
    this.#put(key, (draft) => {
      try {
        linkSync(draft, this.path)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      }
    })
    return readKey(this.path) as string
  }

  async replace(before: string, after: string): Promise<boolean> {
    if (readKey(this.path) !== before) return false
    this.#put(after, (draft) => renameSync(draft, this.path))
    return true
  }

  /** Renames the file, and replaces a file of that name. */
  rename(name: string): void {
    renameSync(this.path, join(dirname(this.path), name))
    syncDirectory(dirname(this.path))
  }

  #put(key: string, place: (draft: string) => void): void {
    const draft = `${this.path}.${randomUUID()}`
    try {
      writeDurably(draft, `${key}\n`, ownerFor(this.path))
      place(draft)
      syncDirectory(dirname(this.path))
    } finally {
      rmSync(draft, { force: true })
    }
  }
}

/** A secret of the data directory; undefined: there is none. */
export function readKeyFile(directory: string, name: string): string | undefined {
  return readKey(join(directory, name))
}

/** Makes a directory beside the files of a gateway, for its user alone. */
export function makeDirectoryBeside(path: string): void {
  const owner = ownerFor(path)
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return
    throw error
  }
  if (!owner) return
  // Never something else that the user has put there since.
  const made = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    fchownSync(made, owner.uid, owner.gid)
  } finally {
    closeSync(made)
  }
}

/**
 * The user to whom root gives a file: the owner of the one that it replaces, or of the embedded store beside it; where there is neither,
 * that of the directory. Undefined: this process is not root, or that user is root.
 */
function ownerFor(path: string): Stats | undefined {
  if (ownUid() !== 0) return undefined
  const directory = dirname(path)
  const look = (at: string): Stats | undefined => statSync(at, { throwIfNoEntry: false })
  const beside = [look(path), look(join(directory, 'rouse.db'))].filter((stats) => stats !== undefined)
  const owners = beside.length > 0 ? beside : [look(directory)]
  return owners.find((stats) => stats !== undefined && stats.uid !== 0)
}

function writeDurably(path: string, text: string, owner: Stats | undefined): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    if (owner) fchownSync(file, owner.uid, owner.gid)
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Syncs the directory, so that the file's name is on disk before anything that the key seals. Windows cannot open directories and does not need it. */
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
