import { dirname, join } from 'node:path'
import { z } from 'zod'
import { UsageError } from '../client/failure.ts'
import type { Io } from '../client/io.ts'
import { profilePath } from '../client/profile-file.ts'
import { readConfigFile, removeFile, replaceFile } from './config-file.ts'
import type { WrittenPiece } from './document.ts'
import type { FormatName } from './formats.ts'

/** The scope of an installation: for the user everywhere, or for one project. */
export type Scope = 'user' | 'project'

/** The record of the text that was written into one file, so that exactly that can be removed. */
export interface FileRecord {
  readonly harness: string
  readonly scope: Scope
  readonly format: FormatName
  readonly written: readonly WrittenPiece[]
  /** True when there was no file before. */
  readonly created: boolean
  /** The directories that were made for it. */
  readonly directories: readonly string[]
  /** The copy of the file as it was before. */
  readonly backup?: string | undefined
}

/** The records by the path of the file. */
export type Records = ReadonlyMap<string, FileRecord>

/** A file of a service manager that is ours as a whole. */
export interface ServiceRecord {
  /** As it was written. */
  readonly text: string
  /** The directories that were made for it. */
  readonly directories: readonly string[]
}

/** Everything that `rouse install` has written, by the path of the file. */
interface InstallRecords {
  readonly files: Records
  readonly services: ReadonlyMap<string, ServiceRecord>
}

const filesMax = 1_000

const written = z.object({
  kind: z.enum(['property', 'element']),
  path: z.array(z.string()),
  value: z.json(),
  text: z.string(),
  depth: z.number(),
})
const fileRecord = z.object({
  harness: z.string(),
  scope: z.enum(['user', 'project']),
  format: z.enum(['json', 'toml', 'whole']),
  written: z.array(written),
  created: z.boolean(),
  directories: z.array(z.string()),
  backup: z.string().optional(),
})
const serviceRecord = z.object({ text: z.string(), directories: z.array(z.string()) })
const recordFile = z.object({
  files: z.record(z.string(), fileRecord),
  services: z.record(z.string(), serviceRecord).optional(),
})

/** Where the records are: beside the profiles. */
function recordPath(env: Io['env']): string {
  const profiles = profilePath(env)
  if (profiles === undefined) throw new UsageError('There is no home directory: set HOME or XDG_CONFIG_HOME.')
  return join(dirname(profiles), 'installed.json')
}

/** Reads the records of harnesses; none without a file. Errors: a file that is damaged. */
export function readRecords(env: Io['env']): Records {
  return readInstalled(env).files
}

/** Reads all records; none without a file. Errors: a file that is damaged. */
export function readInstalled(env: Io['env']): InstallRecords {
  const path = recordPath(env)
  const { text } = readConfigFile(path)
  if (text === undefined) return { files: new Map(), services: new Map() }
  const parsed = recordFile.safeParse(asJson(text))
  if (parsed.success) {
    const { files, services = {} } = parsed.data
    return {
      files: new Map(Object.entries(files) as [string, FileRecord][]),
      services: new Map(Object.entries(services)),
    }
  }
  throw new UsageError(
    `${path} is damaged: it says what rouse install wrote. Remove it, and remove the entries named rouse from the files of the harnesses by hand.`,
  )
}

/** Notes what was written into one file; undefined: nothing of ours is in it any more. */
export function saveRecord(env: Io['env'], path: string, record: FileRecord | undefined): void {
  const { files, services } = readInstalled(env)
  const records = new Map(files)
  if (record) records.set(path, record)
  else records.delete(path)
  if (records.size > filesMax) throw new UsageError(`rouse install has written ${filesMax} files: uninstall some.`)
  writeInstalled(env, { files: records, services })
}

/** Replaces all records. Without any there is no file. */
export function writeInstalled(env: Io['env'], { files, services }: InstallRecords): void {
  const shown = services.size === 0 ? {} : { services: Object.fromEntries(services) }
  const text = `${JSON.stringify({ files: Object.fromEntries(files), ...shown }, null, 2)}\n`
  const file = readConfigFile(recordPath(env))
  if (files.size + services.size > 0) replaceFile(file, text)
  else removeFile(file)
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The profiles that the entries of a harness name. */
export function profilesOf(records: Iterable<readonly [string, FileRecord]>): string[] {
  const texts = [...records].flatMap(([, { written }]) => written.map(({ value }) => JSON.stringify(value)))
  return [...new Set(texts.flatMap((text) => text.match(/--profile(?:","| )([\w.-]+)/)?.[1] ?? []))]
}
