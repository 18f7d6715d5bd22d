import { runCli } from '../../src/cli/run/run.ts'
import type { Io } from '../../src/client/io.ts'

/** The parts that a test replaces beside the environment; `columns` makes it a terminal, `errorColumns` standard error. */
type World = Pick<Io, 'fetch' | 'stdin' | 'input' | 'ask' | 'askSecret' | 'columns' | 'errorColumns' | 'isTerminal'>

export interface Terminal {
  readonly code: Promise<number>
  stdout(): string
  stderr(): string
  /** Resolves with the first match of the pattern in what was printed so far, on either stream. */
  until(pattern: RegExp): Promise<RegExpMatchArray>
  interrupt(): void
}

/** Starts a command line in this process, as the process entry would. */
export function start(
  argv: readonly string[],
  env: Record<string, string | undefined> = {},
  world: World = {},
): Terminal {
  const printed = { out: '', err: '' }
  const interruption = new AbortController()
  const watchers = new Set<() => void>()
  const write = (stream: 'out' | 'err') => (text: string) => {
    printed[stream] += text
    for (const watcher of watchers) watcher()
  }
  const code = runCli(argv, {
    ...world,
    stdout: write('out'),
    stderr: write('err'),
    env: { ROUSE_DATA_DIR: '/nonexistent', ...env },
    signal: interruption.signal,
  })
  return {
    code,
    stdout: () => printed.out,
    stderr: () => printed.err,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const match = printed.out.match(pattern) ?? printed.err.match(pattern)
          if (!match) return
          watchers.delete(look)
          resolve(match)
        }
        watchers.add(look)
        look()
        void code.then((ended) => {
          look()
          reject(new Error(`It ended with ${ended} and never printed ${pattern}: ${printed.out}${printed.err}`))
        })
      }),
    interrupt: () => interruption.abort(),
  }
}

/** Runs a command line to its end. */
export async function run(argv: readonly string[], env: Record<string, string | undefined> = {}, world: World = {}) {
  const terminal = start(argv, env, world)
  const code = await terminal.code
  return { code, stdout: terminal.stdout(), stderr: terminal.stderr() }
}
