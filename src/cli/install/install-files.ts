import { relative } from 'node:path'
import { UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import {
  backUp,
  type ConfigFile,
  FileRefusal,
  readConfigFile,
  removeDirectories,
  removeFile,
  replaceFile,
  requireWritable,
} from '../../config-files/config-file.ts'
import { DocumentError, type Format, type Piece, type WrittenPiece } from '../../config-files/document.ts'
import { type FormatName, formats } from '../../config-files/formats.ts'
import type { Scope } from '../../config-files/record.ts'
import { type FileRecord, readRecords, saveRecord } from '../../config-files/record.ts'
import type { HarnessFile } from '../../harnesses/harness.ts'
import { type Plan, planFile } from './plan.ts'

/** The work on one file. */
export interface FileWork {
  readonly file: ConfigFile
  readonly holds: string
  readonly format: FormatName
  readonly plan: Plan
  readonly record: FileRecord | undefined
}

/** Which harness, and for whom. */
interface Installation {
  readonly harness: string
  readonly scope: Scope
}

/** The outcome for one file. */
export interface FileResult {
  readonly path: string
  readonly holds: string
  readonly action: 'written' | 'unchanged' | 'removed'
  readonly backup?: string
  /** Wanted entries that were there before: they are not ours. */
  readonly foreign?: readonly string[]
  /** Our entries that were changed after the installation: they stay. */
  readonly changed?: readonly string[]
}

/** Plans the changes that give the files of a harness their entries. Changes nothing. Errors: `UsageError`, with file, line and column. */
export function planInstall(io: Io, files: readonly HarnessFile[]): FileWork[] {
  const records = readRecords(io.env)
  return files.map(({ path, format, holds, pieces }) => plannedFile(path, format, holds, pieces, records.get(path)))
}

/** Plans the changes that remove our entries from the files; for a project, from those below `folder`. Changes nothing. Errors: `UsageError`. */
export function planUninstall(io: Io, { harness, scope }: Installation, folder: string): FileWork[] {
  const isMeant = (path: string) => scope === 'user' || !relative(folder, path).startsWith('..')
  const own = [...readRecords(io.env)].filter(
    ([path, record]) => record.harness === harness && record.scope === scope && isMeant(path),
  )
  return own.map(([path, record]) => plannedFile(path, record.format, '', [], record))
}

function plannedFile(
  path: string,
  format: FormatName,
  holds: string,
  pieces: readonly Piece[],
  record: FileRecord | undefined,
) {
  try {
    const file = readConfigFile(path)
    const plan = plannedText(formats[format], file.text ?? '', pieces, record)
    if (plan.text !== (file.text ?? '')) requireWritable(file)
    return { file, holds, format, plan, record }
  } catch (error) {
    throw asUsageError(error, path)
  }
}

/** A file that we made, and that others use by now, keeps what is said of the whole file: `version`. */
function plannedText(format: Format, text: string, pieces: readonly Piece[], record: FileRecord | undefined): Plan {
  const written = record?.written ?? []
  const plan = planFile(format, text, pieces, written)
  const isUsed = pieces.length === 0 && Object.keys(format.parse(plan.text) as object).length > 0
  if (!record?.created || !isUsed) return plan
  return planFile(
    format,
    text,
    pieces,
    written.filter(({ path }) => path.length !== 1),
  )
}

/** Writes the files of an installation. A file that has all of it is not touched. */
export function applyInstall(io: Io, installation: Installation, work: readonly FileWork[]): FileResult[] {
  return work.map(({ file, holds, format, plan, record }) => {
    const entries = { ...named('foreign', plan.foreign), ...named('changed', plan.changed) }
    if (plan.text === (file.text ?? '')) {
      if (plan.written.length !== (record?.written.length ?? 0)) keepRecord(io, file.path, record, plan.written)
      return { path: file.path, holds, action: 'unchanged', ...entries }
    }
    try {
      const fresh = record === undefined || record.written.length === 0
      const backup = file.text !== undefined && fresh ? backUp(file) : undefined
      const first = { created: file.text === undefined, directories: [], backup }
      const next: FileRecord = { ...(fresh ? first : record), ...installation, format, written: plan.written }
      // Before the file: what a crash leaves can be removed then.
      saveRecord(io.env, file.path, next)
      const directories = replaceFile(file, plan.text)
      if (directories.length > 0) saveRecord(io.env, file.path, { ...next, directories })
      return { path: file.path, holds, action: 'written', ...(backup === undefined ? {} : { backup }), ...entries }
    } catch (error) {
      throw asUsageError(error, file.path)
    }
  })
}

/** Removes our entries from the files. A file that we made, and that has nothing else, is deleted. */
export function applyUninstall(io: Io, work: readonly FileWork[]): FileResult[] {
  const results = work.map(({ file, holds, plan, record }): FileResult => {
    try {
      const entries = named('changed', plan.changed)
      if (file.text === undefined || (plan.text === file.text && plan.changed.length === 0)) {
        saveRecord(io.env, file.path, undefined)
        return { path: file.path, holds, action: 'unchanged' }
      }
      const isOurs = record?.created === true && plan.text.trim() === ''
      if (isOurs) removeFile(file)
      else if (plan.text !== file.text) replaceFile(file, plan.text)
      const backup = isOurs ? undefined : keptBackup(record, plan.text)
      saveRecord(io.env, file.path, undefined)
      const action = plan.text === file.text ? 'unchanged' : isOurs ? 'removed' : 'written'
      return { path: file.path, holds, action, ...(backup === undefined ? {} : { backup }), ...entries }
    } catch (error) {
      throw asUsageError(error, file.path)
    }
  })
  removeDirectories(work.flatMap(({ record }) => record?.directories ?? []))
  return results
}

/** A backup that says what the file says again has served. Another one stays, and is named. */
function keptBackup(record: FileRecord | undefined, text: string): string | undefined {
  if (record?.backup === undefined) return undefined
  const backup = readConfigFile(record.backup)
  if (backup.text !== text) return backup.text === undefined ? undefined : record.backup
  removeFile(backup)
  return undefined
}

function keepRecord(io: Io, path: string, record: FileRecord | undefined, written: readonly WrittenPiece[]): void {
  if (record) saveRecord(io.env, path, written.length === 0 ? undefined : { ...record, written })
}

function named(name: 'foreign' | 'changed', pieces: readonly Piece[]): Pick<FileResult, 'foreign' | 'changed'> {
  return pieces.length === 0 ? {} : { [name]: pieces.map(({ path }) => path.join('.')) }
}

/** Returns a failure as a `UsageError` that names the file. Errors of the program itself are returned unchanged. */
export function asUsageError(error: unknown, path: string): unknown {
  if (error instanceof DocumentError) {
    return new UsageError(`${path}:${error.line}:${error.column}: ${error.message}. The file is left as it is.`, {
      cause: error,
    })
  }
  if (error instanceof FileRefusal) return new UsageError(error.message, { cause: error })
  return error
}
