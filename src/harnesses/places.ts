import { isAbsolute, join } from 'node:path'
import { UsageError } from '../client/failure.ts'
import type { Io } from '../client/io.ts'

/** Where things are on this machine. */
export interface Place {
  readonly env: Io['env']
  readonly platform: NodeJS.Platform
  /** The folder of the project: where the command was started. */
  readonly cwd: string
}

/** The user's home directory. Errors: none is known. */
export function homeOf({ env }: Place): string {
  const home = env.HOME || env.USERPROFILE
  if (!home) throw new UsageError('There is no home directory: set HOME.')
  return home
}

/** The directory that a variable names, else one below the home directory. */
export function directoryOf(place: Place, variable: string, ...below: string[]): string {
  return place.env[variable] || join(homeOf(place), ...below)
}

/** The directory for configuration, by the XDG Base Directory Specification; OpenCode keeps to it on every platform. */
export function xdgConfig(place: Place): string {
  const named = place.env.XDG_CONFIG_HOME
  return named && isAbsolute(named) ? named : join(homeOf(place), '.config')
}
