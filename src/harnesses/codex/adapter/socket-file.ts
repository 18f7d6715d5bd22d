import { lstatSync, realpathSync, type Stats } from 'node:fs'
import { dirname, join } from 'node:path'

/** The owner of such a socket has the power of the user, because it answers approvals. So only sockets of this user are used. */
type SocketFile = { readonly path: string } | { readonly remark: string } | undefined

/** Where an app-server of this home listens by itself. It may be a symbolic link. */
export const controlSocket = (home: string): string => join(home, 'app-server-control', 'app-server-control.sock')

const writableByOthers = 0o022
const sticky = 0o1000

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
