import { chmodSync, type Stats, statSync } from 'node:fs'
import { userInfo } from 'node:os'

/** Hears of a file whose mode was closed: its path, and the mode that it had. */
export type Closed = (path: string, mode: string) => void

/** `directory`: where keys are kept. `secret`: a file that is one. `store`: a file with mail in it. */
export type PrivateKind = 'directory' | 'secret' | 'store'

/** What is to be done about the mode and the owner of a file. */
export type Verdict = 'private' | 'close' | 'open' | 'foreign'

const others = 0o007
const groupAndOthers = 0o077
const writing = 0o022

/**
 * Judges by mode and owner. A file of ours is closed, except for a secret that everybody could read: who has read it is not known.
 * A directory is never changed: it may be there for more than us. Others may look into it, but not change what is in it. What
 * is root's may be handed to one group, as Kubernetes does with a volume.
 */
export function judgePrivacy(kind: PrivateKind, { mode, uid }: { mode: number; uid: number }, ownUid: number): Verdict {
  const isOurs = uid === ownUid || ownUid === 0
  if (!isOurs && uid !== 0) return 'foreign'
  const granted = mode & (kind === 'directory' ? writing : groupAndOthers)
  if (granted === 0) return 'private'
  if (!isOurs) return (granted & others) === 0 ? 'private' : 'open'
  if (kind === 'directory') return 'open'
  return kind === 'secret' && (granted & others) !== 0 ? 'open' : 'close'
}

/**
 * Makes sure that only its owner can use a file, or change a directory. Throws, with the command that mends it, when that is not so and
 * cannot be mended here. Does nothing where it does not exist, and on Windows.
 */
export function requirePrivate(kind: PrivateKind, path: string, closed: Closed): void {
  const own = userInfo().uid
  const stats = own === -1 ? undefined : statSync(path, { throwIfNoEntry: false })
  if (!stats) return
  const verdict = judgePrivacy(kind, stats, own)
  if (verdict === 'foreign' || verdict === 'open') throw new Error(refusals[verdict](kind, path, stats, own))
  if (verdict === 'private') return
  chmodSync(path, stats.mode & 0o700)
  closed(path, modeText(stats))
}

/** Whether every user of this machine may read a file. */
export function isOpenToOthers(path: string): boolean {
  const stats = userInfo().uid === -1 ? undefined : statSync(path, { throwIfNoEntry: false })
  return stats !== undefined && (stats.mode & others) !== 0
}

const refusals = {
  foreign: (_kind: PrivateKind, path: string, { uid }: Stats, own: number) =>
    `${path} belongs to another user (uid ${uid}), who can change it; this process runs as uid ${own}. Give it to this user: chown ${own} ${path}`,
  open: (kind: PrivateKind, path: string, stats: Stats) =>
    kind === 'directory'
      ? `Others may change what is in ${path} (mode ${modeText(stats)}), where keys are kept. Keep them out: chmod go-w ${path}`
      : `Every user of this machine may use ${path} (mode ${modeText(stats)}). Close it, and replace what somebody may have read: chmod 600 ${path}`,
}

function modeText({ mode }: Stats): string {
  return (mode & 0o777).toString(8).padStart(4, '0')
}
