import { accessSync, chmodSync, constants, type Stats, statSync } from 'node:fs'
import { ownUid } from '../lib/own-uid.ts'

/** Called for a file whose mode was corrected, with its path and its former mode. */
export type ModeListener = (path: string, mode: string) => void

/** `directory`: one that holds keys. `secret`: a file with a secret. `store`: a file with mail. */
type PrivateKind = 'directory' | 'secret' | 'store'

/** How to treat the mode and owner of a file. */
type Verdict = 'private' | 'close' | 'open' | 'foreign'

const others = 0o007
const groupAndOthers = 0o077
const writing = 0o022

/**
 * Judges a file by mode and owner. The mode of a file of ours is corrected, except for a secret that every user could read: it may
 * have been read already. A directory is never changed, because it may have other uses; other users may list it, but not change
 * its content. A file of root may be open to one group, as in a Kubernetes volume.
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
 * Makes sure that only its owner can use a file, or change a directory. Throws, with the command that repairs it, if that cannot be
 * done here. Does nothing if the file does not exist, and on Windows.
 */
export function requirePrivate(kind: PrivateKind, path: string, closed: ModeListener): void {
  const own = ownUid()
  const stats = own === -1 ? undefined : statSync(path, { throwIfNoEntry: false })
  if (!stats) return
  const verdict = judgePrivacy(kind, stats, own)
  if (verdict === 'foreign' || verdict === 'open') throw new Error(refusals[verdict](kind, path, stats, own))
  if (kind !== 'directory' && stats.uid !== own && !isReadable(path)) throw new Error(unreadableText(path, stats, own))
  if (verdict === 'private') return
  chmodSync(path, stats.mode & 0o700)
  closed(path, modeText(stats))
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}

/** True when every user of this machine may read a file. */
export function isOpenToOthers(path: string): boolean {
  const stats = ownUid() === -1 ? undefined : statSync(path, { throwIfNoEntry: false })
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

function unreadableText(path: string, stats: Stats, own: number): string {
  return `${path} belongs to uid ${stats.uid} (mode ${modeText(stats)}), and this process runs as uid ${own} and may not read it. Give it to this user: chown ${own} ${path}`
}

function modeText({ mode }: Stats): string {
  return (mode & 0o777).toString(8).padStart(4, '0')
}
