import { randomBytes } from 'node:crypto'
import {
  accessSync,
  chmodSync,
  chownSync,
  closeSync,
  copyFileSync,
  existsSync,
  constants as fsConstants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** A configuration file as it is read. */
export interface ConfigFile {
  /** The path that the harness uses. */
  readonly path: string
  /** The file itself, where the path is a symbolic link. */
  readonly target: string
  /** Its text; undefined where there is no file. */
  readonly text: string | undefined
}

/** Why a file is left as it is, in words for the user. */
export class FileRefusal extends Error {}

/** Larger than any configuration; Claude Code keeps its history in one. */
const bytesMax = 16 * 1024 * 1024
const backupsMax = 9
const ownerWrites = 0o200

/** Reads a file. Errors: `FileRefusal` for what is no file, is no UTF-8, is too large, or may not be read. */
export function readConfigFile(path: string): ConfigFile {
  const target = resolved(path)
  if (target === undefined) return { path, target: path, text: undefined }
  const stats = statSync(target)
  if (!stats.isFile()) throw new FileRefusal(`${path} is no file.`)
  if (stats.size > bytesMax) throw new FileRefusal(`${path} is larger than ${bytesMax / 1024 / 1024} MiB.`)
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(target))
    return { path, target, text }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const reason = code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'is not UTF-8' : `cannot be read (${code})`
    throw new FileRefusal(`${path} ${reason}.`, { cause: error })
  }
}

function resolved(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT') throw new FileRefusal(`${path} cannot be read (${code}).`, { cause: error })
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined
    throw new FileRefusal(`${path} is a symbolic link to a file that is not there.`, { cause: error })
  }
}

/** Errors: `FileRefusal` where the file may not be changed. Its owner decides: a mode without `w` is meant, also for root. */
export function requireWritable({ path, target, text }: ConfigFile): void {
  let place = dirname(target)
  while (!existsSync(place)) place = dirname(place)
  try {
    accessSync(place, fsConstants.W_OK)
  } catch (error) {
    throw new FileRefusal(`${path} cannot be written (${(error as NodeJS.ErrnoException).code}).`, { cause: error })
  }
  if (text === undefined || statSync(target).mode & ownerWrites) return
  throw new FileRefusal(`${path} is read-only. Make it writable with: chmod u+w ${target}`)
}

/** Copies a file beside itself, with its mode and owner, under a name that no file has yet. Returns the path of the copy. */
export function backUp({ target }: ConfigFile): string {
  const stats = statSync(target)
  for (let number = 1; number <= backupsMax; number += 1) {
    const copy = `${target}.rouse-backup${number === 1 ? '' : `-${number}`}`
    try {
      copyFileSync(target, copy, fsConstants.COPYFILE_EXCL)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue
      throw new FileRefusal(`${copy} cannot be written (${(error as NodeJS.ErrnoException).code}).`, { cause: error })
    }
    takeOver(copy, stats)
    return copy
  }
  throw new FileRefusal(`There are ${backupsMax} backups of ${target}: remove those that are old (*.rouse-backup*).`)
}

/**
 * Replaces the text of a file atomically: after a crash the file is the old one or the new one. Mode and owner stay, a symbolic link stays
 * a link. Missing directories are made, and returned. Errors: `FileRefusal`, also if another program has written the file since it was
 * read.
 */
export function replaceFile(file: ConfigFile, text: string): string[] {
  const made = makeDirectory(dirname(file.target))
  const draft = join(dirname(file.target), `.${basename(file.target)}.${randomBytes(6).toString('hex')}`)
  try {
    const stats = statSync(file.target, { throwIfNoEntry: false })
    writeFileSync(draft, text, { flag: 'wx', mode: 0o600 })
    if (stats) takeOver(draft, stats)
    sync(draft)
    if (readConfigFile(file.path).text !== file.text) {
      throw new FileRefusal(`${file.path} was changed by another program just now. Try again.`)
    }
    renameSync(draft, file.target)
    sync(dirname(file.target))
  } catch (error) {
    removeDirectories(made)
    if (error instanceof FileRefusal) throw error
    throw new FileRefusal(`${file.path} cannot be written (${(error as NodeJS.ErrnoException).code}).`, {
      cause: error,
    })
  } finally {
    rmSync(draft, { force: true })
  }
  return made
}

/** Removes a file that we made. */
export function removeFile({ target }: Pick<ConfigFile, 'target'>): void {
  rmSync(target, { force: true })
}

/** Removes the directories that we made, as far as they are empty. */
export function removeDirectories(directories: readonly string[]): void {
  for (const directory of [...directories].sort((a, b) => b.length - a.length)) {
    try {
      rmdirSync(directory)
    } catch {
      // The directory is not empty.
    }
  }
}

function makeDirectory(path: string): string[] {
  const missing: string[] = []
  for (let at = path; statSync(at, { throwIfNoEntry: false }) === undefined; at = dirname(at)) missing.push(at)
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new FileRefusal(`${path} cannot be made (${(error as NodeJS.ErrnoException).code}).`, { cause: error })
  }
  return missing
}

/** Gives a file the mode and the owner of another. Errors: an owner that this user cannot give. */
function takeOver(path: string, { mode, uid, gid }: Stats): void {
  const own = statSync(path)
  if (own.uid !== uid || own.gid !== gid) chownSync(path, uid, gid)
  chmodSync(path, mode & 0o7777)
}

function sync(path: string): void {
  // Windows syncs no directories.
  if (process.platform === 'win32' && statSync(path).isDirectory()) return
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
