import { closeSync, fstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import { profilePath } from '../../client/profile-file.ts'

const bytesMax = 1_000_000
const writableByOthers = 0o022
const sticky = 0o1000

/** Where the configuration of the bridge is: the option, the variable, or beside the profiles. Errors: there is no home directory. */
export function configPath(option: string | undefined, env: Io['env']): string {
  const named = option ?? (env.ROUSE_BRIDGE_CONFIG?.trim() || undefined)
  if (named !== undefined) return resolve(named)
  const profiles = profilePath(env)
  if (profiles !== undefined) return join(dirname(profiles), 'bridge.json')
  throw new UsageError(
    'There is no home directory for the configuration of the bridge: set HOME or XDG_CONFIG_HOME, or name it with --config.',
  )
}

/**
 * The text of the configuration. It says which conversations may be woken, so only its user may write it. Errors: it is not
 * there, is another user's, or others may write it or put another in its place.
 */
export function readConfigText(path: string): string {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const why =
      code === 'ENOENT' ? 'There is no configuration of the bridge at' : `(${code}) The configuration cannot be read:`
    throw new UsageError(`${why} ${path}. Write a first one with: rouse bridge init`, { cause: error })
  }
  try {
    const stats = fstatSync(file)
    if (!stats.isFile()) throw new UsageError(`${path} is no file. Name the configuration with --config.`)
    requireOwn(path, stats)
    requireOwnPlace(dirname(path))
    if (stats.size > bytesMax) throw new UsageError(`${path} has more than ${bytesMax} bytes. Make it shorter.`)
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

function requireOwn(path: string, { uid, mode }: Stats): void {
  const own = process.getuid?.()
  if (own === undefined) return
  if (uid !== own && uid !== 0) {
    throw new UsageError(
      `${path} belongs to another user (uid ${uid}), who could let wakes into your conversations. Make it yours: chown ${own} ${path}`,
    )
  }
  if ((mode & writableByOthers) === 0) return
  throw new UsageError(
    `Others may write ${path} (mode ${modeText(mode)}), and so let wakes into your conversations. Keep them out: chmod go-w ${path}`,
  )
}

/**
 * A user who may change the directory may put another file there. A sticky one, as /tmp, keeps the files of each user. One that is not there
 * yet will be the user's own.
 */
export function requireOwnPlace(directory: string): void {
  if (process.getuid === undefined) return
  const mode = statSync(directory, { throwIfNoEntry: false })?.mode ?? 0
  if ((mode & writableByOthers) === 0 || (mode & sticky) !== 0) return
  throw new UsageError(
    `Others may change what is in ${directory} (mode ${modeText(mode)}), and so the configuration of the bridge. Keep them out: chmod go-w ${directory}`,
  )
}

const modeText = (mode: number): string => (mode & 0o7777).toString(8).padStart(4, '0')
