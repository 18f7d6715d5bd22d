import type { HarnessSession } from '../../../bridge/adapter.ts'
import { isSameProcess } from '../../../bridge/target/same-conversation.ts'
import { nameOf } from '../tmux/harness-in-pane.ts'
import type { Process } from '../tmux/processes.ts'
import { programNames } from '../tmux/programs.ts'
import { type Application, applicationOf } from './application.ts'

/** A harness that has the keys of its terminal, in a window of an application. */
export interface Found {
  readonly name: string
  readonly process: Process
  readonly application: Application
}

/** The harnesses in windows. Of one that starts itself again it is the last one. Pure. */
export function harnessesIn(processes: ReadonlyMap<number, Process>): Found[] {
  const all = [...processes.values()].flatMap((one): Found[] => {
    const name = one.isForeground ? nameOf(one, programNames) : undefined
    const application = name && applicationOf(one.pid, processes)
    return name && application ? [{ name, process: one, application }] : []
  })
  return all.filter(
    ({ name, process }) => !all.some((other) => other.name === name && other.process.parent === process.pid),
  )
}

/** The harness of a session, if its process still runs there. Pure. */
export function harnessOf(session: HarnessSession, processes: ReadonlyMap<number, Process>): Found | undefined {
  const { process: wanted } = session
  return wanted && harnessesIn(processes).find(({ process }) => isSameProcess(wanted, processOf(process)) === 'yes')
}

export const processOf = ({ pid, startedAt }: Process) => ({ pid, startedAt: new Date(startedAt).toISOString() })
