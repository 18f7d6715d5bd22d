import { basename } from 'node:path'
import type { Process } from '../tmux/processes.ts'

/** The application in whose windows a process runs. */
export interface Application {
  readonly pid: number
  /** `/System/Applications/Utilities/Terminal.app` */
  readonly path: string
}

const depthMax = 32
const bundle = /^(\/.*?\.app)\/Contents\/MacOS\//

/** The application at the root of a process: its outermost ancestor that is one, since helpers are bundles too. Pure. */
export function applicationOf(pid: number, processes: ReadonlyMap<number, Process>): Application | undefined {
  let found: Application | undefined
  let at = processes.get(pid)
  for (let depth = 0; at && depth < depthMax; depth++) {
    const path = bundle.exec(at.argv.join(' '))?.[1]
    if (path !== undefined) found = { pid: at.pid, path }
    at = at.parent > 1 ? processes.get(at.parent) : undefined
  }
  return found
}

const terminals = ['Terminal.app', 'iTerm.app', 'iTerm2.app']

/** True when an application says which of its tabs is in front. In one that does not, a line may go to another program. Pure. */
export const namesItsTab = ({ path }: Application): boolean => terminals.includes(basename(path))
