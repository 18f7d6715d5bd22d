import { randomBytes } from 'node:crypto'
import type { Process } from './processes.ts'
import type { TmuxServer } from './tmux-server.ts'

const option = '@rouse_lock'
const value = /^(\d+)-(\d+)-[0-9a-f]+$/

/**
 * Locks a pane, so that no other bridge types into it. The lock is an option of the pane, which the server of tmux changes atomically. The
 * lock of a dead process is taken over. Resolves with a function that releases it; undefined: another process has it.
 */
export async function lockPane(
  server: TmuxServer,
  pane: string,
  readProcesses: () => ReadonlyMap<number, Process>,
): Promise<(() => Promise<void>) | undefined> {
  const processes = readProcesses()
  const own = `${process.pid}-${processes.get(process.pid)?.startedAt ?? 0}-${randomBytes(8).toString('hex')}`
  let holder = await server.swap(pane, option, '', own)
  if (holder !== own && !isAlive(holder, processes)) holder = await server.swap(pane, option, holder, own)
  if (holder !== own) return undefined
  return async () => {
    // A pane that is gone has no lock.
    await server.swap(pane, option, own, '').catch(() => {})
  }
}

function isAlive(holder: string, processes: ReadonlyMap<number, Process>): boolean {
  const [, pid, startedAt] = value.exec(holder) ?? []
  return pid !== undefined && (processes.get(Number(pid))?.startedAt ?? 0) === Number(startedAt)
}
