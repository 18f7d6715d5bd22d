import { createHash } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import { profilePath } from '../../client/profile-file.ts'

/** Where the bridge of a user listens. */
export interface LocalAddress {
  /** A Unix socket, or a named pipe of Windows. */
  readonly path: string
  /** The directory of the socket, which no other user may enter; absent for a named pipe. */
  readonly directory?: string
}

/** The facts of the machine that the address depends on beside the environment. */
export interface LocalMachine {
  readonly platform: NodeJS.Platform
  /** -1 on Windows */
  readonly uid: number
}

export const thisMachine = (): LocalMachine => ({ platform: process.platform, uid: process.getuid?.() ?? -1 })

/** `sockaddr_un` has room for 104 bytes on macOS and 108 on Linux, with the zero at the end. */
const pathBytesMax = 103

/**
 * Returns where the bridge of these profiles listens; undefined without a home directory. The socket is beside the profiles, because every
 * program of Rouse finds those: `XDG_RUNTIME_DIR` is missing in the environment of some hooks, and is removed when its user logs out, while
 * a harness in tmux still runs. Pure.
 */
export function localAddress(env: Io['env'], { platform, uid }: LocalMachine): LocalAddress | undefined {
  const profiles = profilePath(env)
  if (profiles === undefined) return undefined
  const home = dirname(profiles)
  const name = () => createHash('sha256').update(home).digest('hex').slice(0, 16)
  if (platform === 'win32') return { path: `\\\\.\\pipe\\rouse-bridge-${name()}` }
  const directory = join(home, 'run')
  const path = join(directory, 'bridge.sock')
  if (Buffer.byteLength(path) <= pathBytesMax) return { path, directory }
  // The temporary directory of macOS is a long path too.
  const short = `/tmp/rouse-${uid}`
  return { path: `${short}/${name()}.sock`, directory: short }
}

/** True when a directory belongs to this user and no other user may enter it. In `/tmp` any user can make one of that name. */
export function isPrivateDirectory(path: string, { uid }: LocalMachine): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats?.isDirectory() === true && stats.uid === uid && (stats.mode & 0o077) === 0
}

/** Makes a directory that is this user's alone. Errors: `UsageError`, where it cannot be. */
export function makePrivate(directory: string, machine: LocalMachine): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const stats = lstatSync(directory)
  if (stats.isDirectory() && stats.uid === machine.uid) chmodSync(directory, 0o700)
  if (isPrivateDirectory(directory, machine)) return
  throw new UsageError(`${directory} is no directory of this user alone: remove it, and try again.`)
}
