import type { Process } from './processes.ts'
import { programOf } from './programs.ts'

/** The program of a harness that has the keys of a pane. */
export interface HarnessInPane {
  readonly name: string
  readonly process: Process
}

const depthMax = 12
/** Programs that run a script: what counts is the script. */
const runtime = /(^|\/)(node|nodejs|bun|deno)(\.exe)?$/

/**
 * Finds the harness of a pane among the descendants of the pane's process: the one to which the keys of the terminal go, so not one that
 * its user has suspended, or that has an editor in front of it. Of a harness that starts itself again it is the last one. Pure.
 */
export function harnessIn(
  panePid: number,
  processes: ReadonlyMap<number, Process>,
  names: readonly string[],
): HarnessInPane | undefined {
  const children = childrenOf(processes)
  let level = [processes.get(panePid)].filter((one) => one !== undefined)
  for (let depth = 0; depth < depthMax && level.length > 0; depth++) {
    for (const found of level.filter(({ isForeground }) => isForeground)) {
      const name = nameOf(found, names)
      if (name) return { name, process: lastOf(found, name, children) }
    }
    level = level.flatMap(({ pid }) => children.get(pid) ?? [])
  }
  return undefined
}

function childrenOf(processes: ReadonlyMap<number, Process>): Map<number, Process[]> {
  const children = new Map<number, Process[]>()
  for (const one of processes.values()) children.set(one.parent, [...(children.get(one.parent) ?? []), one])
  return children
}

function lastOf(found: Process, name: string, children: ReadonlyMap<number, readonly Process[]>): Process {
  const next = children.get(found.pid)?.find((child) => child.isForeground && nameOf(child, [name]))
  return next ? lastOf(next, name, children) : found
}

/** Which harness a process is; undefined: none of these. Pure. */
export function nameOf({ argv }: Process, names: readonly string[]): string | undefined {
  const [path = '', ...rest] = argv
  const script = runtime.test(path) ? rest.find((argument) => !argument.startsWith('-')) : undefined
  return names.find((name) => programOf(name).path.test(script ?? path))
}
