import { lstatSync, realpathSync, type Stats } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Io } from '../../../client/io.ts'
import { AppServer } from './app-server.ts'
import { openChild } from './rpc/child.ts'
import { ConnectionLost } from './rpc/refusals.ts'
import { openSocket } from './rpc/socket.ts'
import type { CodexSettings } from './settings.ts'

/** Where an app-server of this home listens by itself. It may be a symbolic link. */
const controlSocket = (home: string): string => join(home, 'app-server-control', 'app-server-control.sock')

const writableByOthers = 0o022

const sticky = 0o1000

/** The app-servers that were reached, and why others were not. The caller closes them. */
interface Reached {
  readonly servers: AppServer[]
  readonly remarks: string[]
}

/** Opens the app-servers of this user: those that listen, and our own for a home that has none. */
export class CodexAccess {
  readonly settings: CodexSettings
  readonly #env: Io['env']

  constructor(settings: CodexSettings, env: Io['env']) {
    this.settings = settings
    this.#env = env
  }

  /** The sockets that exist and are this user's; why others are not used. */
  sockets(): { readonly paths: readonly string[]; readonly remarks: string[] } {
    const { homes, sockets } = this.settings
    const files = [...homes.map(controlSocket), ...sockets].map((path) => socketFile(path, process.getuid?.()))
    const paths = new Set(files.flatMap((file) => (file && 'path' in file ? [file.path] : [])))
    return { paths: [...paths], remarks: files.flatMap((file) => (file && 'remark' in file ? [file.remark] : [])) }
  }

  /** Opens every app-server that listens. One that does not answer is a remark. */
  async listening(): Promise<Reached> {
    const { paths, remarks } = this.sockets()
    const opened = await Promise.allSettled(paths.map(async (path) => AppServer.greet(await openSocket(path))))
    const servers = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    opened.forEach((one, index) => {
      // A server that was killed leaves its socket behind.
      if (one.status === 'rejected' && !/ECONNREFUSED/.test(String(one.reason))) {
        remarks.push(`The app-server at ${paths[index]} does not answer: ${(one.reason as Error).message}.`)
      }
    })
    return { servers, remarks }
  }

  /** Opens an app-server with this home: one that listens, otherwise a process that this one starts. Errors: `ConnectionLost`, `RpcError`. */
  async ofHome(home: string): Promise<AppServer> {
    const { servers } = await this.listening()
    const found = servers.find((server) => server.home === home)
    await closeAll(servers.filter((server) => server !== found))
    return found ?? this.ownServer(home)
  }

  /** Starts an app-server with this home. Errors: `ConnectionLost`, `RpcError`. */
  async ownServer(home: string): Promise<AppServer> {
    const { program } = this.settings
    if (program === undefined) throw new ConnectionLost('codex is not in PATH')
    return AppServer.greet(openChild(program, { ...this.#env, CODEX_HOME: home }), true)
  }
}

/** Closes app-servers that were opened together. */
export async function closeAll(servers: readonly AppServer[]): Promise<void> {
  await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()))
}

/** The owner of such a socket has the power of the user, because it answers approvals. So only sockets of this user are used. */
type SocketFile = { readonly path: string } | { readonly remark: string } | undefined

/**
 * Returns the real path of a socket that only this user can have made, or says why it is not trusted; undefined: there is none.
 * `--listen unix://PATH` makes PATH a symbolic link. `uid`: that of this process.
 */
export function socketFile(path: string, uid: number | undefined): SocketFile {
  try {
    const real = realpathSync(path)
    const fault = faultOf(lstatSync(real), lstatSync(dirname(real)), uid)
    return fault ? { remark: `The socket ${path} is not used: ${fault}.` } : { path: real }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? undefined : { remark: `The socket ${path} is not used: ${message}.` }
  }
}

function faultOf(file: Stats, folder: Stats, uid: number | undefined): string | undefined {
  if (!file.isSocket()) return 'it is no socket'
  if (uid === undefined) return 'this system does not say whose it is'
  if (file.uid !== uid) return 'it is another user’s'
  if (file.mode & writableByOthers) return 'other users may write to it: chmod 600'
  if (folder.uid !== uid && folder.uid !== 0) return 'its directory is another user’s'
  if (folder.mode & writableByOthers && !(folder.mode & sticky)) {
    return 'other users may write to its directory: chmod 700'
  }
  return undefined
}
