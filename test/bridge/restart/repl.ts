import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { processStart } from '../../../src/bridge/processes.ts'
import type { Recipe } from '../../../src/bridge/restart/recipe.ts'
import { dataDirectory } from '../../support/data-directory.ts'
import { atTestEnd } from '../../support/ends.ts'
import { until } from '../../support/until.ts'

/** A start of the small harness. */
interface Start {
  readonly pid: number
  readonly cwd: string
  readonly prompt: string
  readonly stdin: string
  readonly profile?: string
  readonly key?: string
  readonly isTerminal?: boolean
  readonly quoted?: string
}

interface ReplOptions {
  readonly cwd: string
  readonly gateway?: { readonly url: string }
  readonly key?: string
  readonly env?: Readonly<Record<string, string>>
  readonly recipe?: Partial<Recipe>
}

/** A recipe that starts the small harness, and what it has started. No test leaves one behind. */
export function replOf({ cwd, gateway, key, env = {}, recipe = {} }: ReplOptions) {
  const own = dataDirectory()
  const log = join(own.path, 'starts')
  const starts = (): Start[] =>
    existsSync(log)
      ? readFileSync(log, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line))
      : []
  const running = (): number[] => starts().flatMap(({ pid }) => (processStart(pid) ? [pid] : []))
  const said: Record<string, string> = gateway && key ? { GATEWAY: gateway.url, AGENT_KEY: key } : { SILENT: 'yes' }
  // A process that has said its id is ended by it; one that still waits for its word ends by itself.
  atTestEnd(async () => {
    for (const pid of running()) process.kill(pid, 'SIGKILL')
    await until(
      () => processesOf(own.path),
      (left) => left.length === 0,
    )
    own[Symbol.dispose]()
  })
  return {
    starts,
    running,
    recipe: {
      harness: 'codex',
      command: [process.execPath, resolve(import.meta.dirname, 'repl.mjs')],
      cwd,
      env: { STARTS: log, PATH: process.env.PATH!, ...said, ...env },
      prompt: 'argument',
      settleMs: 1_000,
      ...recipe,
    } satisfies Recipe as Recipe,
  }
}

/** The processes that a directory is named to: nobody else knows it. Also those that wait for their word. */
function processesOf(directory: string): number[] {
  const named = readdirSync('/proc').filter((name) => {
    try {
      const said = ['cmdline', 'environ'].map((file) => readFileSync(`/proc/${name}/${file}`, 'utf8'))
      return /^\d+$/.test(name) && Number(name) !== process.pid && said.join().includes(directory)
    } catch {
      return false
    }
  })
  return named.map(Number)
}
