import { type Clock, sleep } from '../../lib/clock.ts'
import type { StartRecord } from '../journal/start-records.ts'
import { lookUp, processStart } from '../processes.ts'
import { isSameProcess, type KnownSession } from '../target/same-conversation.ts'

const endMs = { term: 5_000, kill: 2_000, look: 50 } as const

type Recorded = Pick<StartRecord, 'pid' | 'startedAt' | 'start'>

/** True: the process of a record runs: the same pid and the same start. Never by a name. */
export function isRunning({ pid, startedAt, start }: Recorded): boolean {
  if (pid === null || startedAt === null) return false
  const found = processStart(pid)
  if (found === undefined || found.start !== start) return false
  // After a restart of the machine another process may have the same pid and as many ticks.
  return isSameProcess({ pid, startedAt }, { pid, startedAt: found.startedAt }) === 'yes'
}

/** True: a process is in the group of a record: the harness itself, or what it has started. */
export function isOfGroup(pid: number, record: Recorded): boolean {
  return record.pid !== null && isRunning(record) && lookUp(pid)?.group === record.pid
}

/** True: a session of the gateway speaks from a process of a record. */
export function speaksFrom({ pid, startedAt }: KnownSession, record: Recorded): boolean {
  if (pid === undefined || startedAt === undefined || !isOfGroup(pid, record)) return false
  const found = processStart(pid)
  return found !== undefined && isSameProcess({ pid, startedAt }, { pid, startedAt: found.startedAt }) === 'yes'
}

/** Ends the process group of a record that runs: asks it, then kills it. Returns whether nothing of it is left. */
export async function endGroup(record: Recorded, clock: Clock): Promise<boolean> {
  const { pid } = record
  if (pid === null || !isRunning(record)) return true
  for (const [signal, ms] of [
    ['SIGTERM', endMs.term],
    ['SIGKILL', endMs.kill],
  ] as const) {
    // While one process of the group lives, no other process gets its id.
    if (!signalGroup(pid, signal)) return true
    for (let waited = 0; waited < ms; waited += endMs.look) {
      await sleep(clock, endMs.look)
      if (!signalGroup(pid, 0)) return true
    }
  }
  return false
}

/** Returns whether there was a process to signal. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
