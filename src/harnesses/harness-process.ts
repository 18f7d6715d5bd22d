import { lookUp } from '../bridge/processes.ts'

/** The process of the harness: what makes its session its own. `startedAt`: ISO 8601; absent where the system does not report it. */
export interface HarnessProcess {
  readonly pid: number
  readonly startedAt?: string
}

/** Programs that stand between a harness and what it starts. */
const between = /^(-?(ba|da|z|fi|k|a)?sh|env|nice|timeout|(npm|npx|pnpm|yarn|bunx).*)$/
const depthMax = 8

/**
 * The harness that started this process: the ancestor that its environment names (`named`, the values of such variables), else the first that
 * is no shell. A harness that was started within another one inherits names of that one, so the nearest counts. Source: D12.
 */
export function harnessProcess(named: readonly string[], parent: number): HarnessProcess {
  let pid = parent
  let found = lookUp(pid)
  for (let depth = 0; found && between.test(found.name) && !named.includes(String(pid)) && depth < depthMax; depth++) {
    const above = found.parent > 1 ? lookUp(found.parent) : undefined
    if (!above) break
    pid = found.parent
    found = above
  }
  return { pid, ...(found ? { startedAt: new Date(found.startedAt).toISOString() } : {}) }
}
