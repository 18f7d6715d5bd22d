import { UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import {
  FileRefusal,
  readConfigFile,
  removeDirectories,
  removeFile,
  replaceFile,
  requireWritable,
} from '../../config-files/config-file.ts'
import { programPath } from '../../harnesses/program-path.ts'
import { talk } from '../../harnesses/talk.ts'
import { saveServiceRecord, serviceRecord } from './service-record.ts'
import type { Service } from './services.ts'

const commandMaxMs = 30_000

/** The outcome for a service. */
export interface ServiceResult {
  readonly manager: string
  readonly path: string
  readonly action: 'written' | 'unchanged' | 'removed'
  /** True when its manager accepted it. */
  readonly told: boolean
  /** Acts that are left to the user, and hints, a sentence each. */
  readonly notes: readonly string[]
}

/** Returns the text of the file of a service before and after. Errors: `UsageError` for a file that is not ours. */
export function plannedService(io: Io, { path, text }: Pick<Service, 'path' | 'text'>) {
  return guarded(() => {
    const file = readConfigFile(path)
    if (file.text !== undefined && file.text !== text && file.text !== serviceRecord(io.env, path)?.text) {
      throw new UsageError(`${path} is there, and it is not what rouse install wrote. Move it away, and try again.`)
    }
    return { file, before: file.text, after: text }
  })
}

/** Writes the file of a service and has its manager start it. A manager that is not there is named, with the commands for later. */
export async function installService(io: Io, service: Service): Promise<ServiceResult> {
  const { manager, path, text, notes } = service
  const { file, before } = plannedService(io, service)
  const isNew = before !== text
  if (isNew) {
    guarded(() => {
      requireWritable(file)
      const { directories = [] } = serviceRecord(io.env, path) ?? {}
      // Before the file: what a crash leaves can be removed then.
      saveServiceRecord(io.env, path, { text, directories })
      const made = replaceFile(file, text)
      if (made.length > 0) saveServiceRecord(io.env, path, { text, directories: made })
    })
  } else if (serviceRecord(io.env, path) === undefined) saveServiceRecord(io.env, path, { text, directories: [] })
  await runCommands(io, service.reset)
  const failed = await runCommands(io, service.start)
  const action = isNew ? 'written' : 'unchanged'
  return { manager, path, action, told: failed === undefined, notes: failed ? later(service.start, failed) : notes }
}

/** Stops a service and removes its file, if that is still what was written. */
export async function uninstallService(io: Io, service: Service): Promise<ServiceResult> {
  const { manager, path } = service
  const record = serviceRecord(io.env, path)
  const file = guarded(() => readConfigFile(path))
  if (record === undefined || file.text === undefined) {
    saveServiceRecord(io.env, path, undefined)
    return { manager, path, action: 'unchanged', told: true, notes: ['rouse install has written no service here.'] }
  }
  const stopped = await runCommands(io, service.stop)
  if (file.text !== record.text) {
    saveServiceRecord(io.env, path, undefined)
    const note = 'It was changed since, so the file stays. Remove it by hand.'
    return { manager, path, action: 'unchanged', told: stopped === undefined, notes: [note] }
  }
  guarded(() => removeFile(file))
  saveServiceRecord(io.env, path, undefined)
  removeDirectories(record.directories)
  const forgotten = await runCommands(io, service.after)
  const failed = stopped ?? forgotten
  return {
    manager,
    path,
    action: 'removed',
    told: failed === undefined,
    notes: failed ? later(service.stop, failed) : [],
  }
}

function later(
  commands: readonly (readonly string[])[],
  { command, reason }: { readonly command: string; readonly reason: string },
): string[] {
  const all = commands.map((words) => words.join(' ')).join(' && ')
  return [`${command} was not carried out: ${reason}. Where it can be: ${all}`]
}

function guarded<T>(act: () => T): T {
  try {
    return act()
  } catch (error) {
    if (error instanceof FileRefusal) throw new UsageError(error.message, { cause: error })
    throw error
  }
}

/** Runs commands of a service manager until one fails. Returns what failed and why; undefined: all of them were carried out. */
async function runCommands(
  io: Pick<Io, 'env'>,
  commands: readonly (readonly string[])[],
): Promise<{ readonly command: string; readonly reason: string } | undefined> {
  for (const words of commands) {
    const reason = await failureOf(io, words)
    if (reason !== undefined) return { command: words.join(' '), reason }
  }
  return undefined
}

async function failureOf(
  { env }: Pick<Io, 'env'>,
  [program = '', ...args]: readonly string[],
): Promise<string | undefined> {
  const path = programPath(program, { env, platform: process.platform })
  if (path === undefined) return `${program} is not in PATH`
  const { complaint, end, exitCode } = await talk({ path, args, env, timeoutMs: commandMaxMs }, '', () => false)
  if (end === 'exited' && exitCode === 0) return undefined
  return complaint || (end === 'exited' ? `it ended with ${exitCode}` : 'it did not end in time')
}
