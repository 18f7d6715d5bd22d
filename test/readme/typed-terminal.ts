import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { atFileEnd } from '../support/ends.ts'
import { until } from '../support/until.ts'

/** For a command of the README on the busiest machine. */
const endMaxMs = 30_000

interface Run {
  readonly child: ChildProcess
  readonly exited: Promise<number | NodeJS.Signals>
  output(): string
}

/** A person's terminal: what it exports stays, and what runs in it is stopped with Ctrl-C before the next command. */
export class TypedTerminal {
  readonly #directory: string
  readonly #env: Record<string, string>
  readonly #exports: string[] = []
  #running: Run | undefined

  constructor(directory: string, env: Record<string, string>) {
    this.#directory = directory
    this.#env = env
  }

  /** Runs a command to its end and returns what it printed. Errors: another exit code than 0, with the output. */
  async run(command: string): Promise<string> {
    await this.interrupt()
    if (command.startsWith('export ')) this.#exports.push(command)
    const run = this.#spawn(command)
    const { output } = run
    const code = await ended(run)
    if (code !== 0) throw new Error(`${command}\nended with ${code}:\n${output()}`)
    return output()
  }

  /** Starts a command that stays, and resolves when it has printed the pattern. */
  async stay(command: string, isUp: RegExp): Promise<() => string> {
    await this.interrupt()
    const run = this.#spawn(command)
    this.#running = run
    let code: number | NodeJS.Signals | undefined
    void run.exited.then((ended) => (code = ended))
    await until(run.output, (text) => code !== undefined || isUp.test(text))
    if (code !== undefined) throw new Error(`${command}\nended with ${code}:\n${run.output()}`)
    return run.output
  }

  /** Ctrl-C. Errors: it does not end. */
  async interrupt(): Promise<void> {
    const run = this.#running
    this.#running = undefined
    if (!run) return
    kill(run.child, 'SIGINT')
    await ended(run)
  }

  #spawn(command: string): Run {
    const child = spawn('sh', ['-c', [...this.#exports, command].join('\n')], {
      cwd: this.#directory,
      env: this.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
      // Ctrl-C reaches all that the line has started, as in a terminal.
      detached: true,
    })
    atFileEnd(() => kill(child, 'SIGKILL'))
    let printed = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (printed += text))
    const exited = once(child, 'close').then(([code, signal]): number | NodeJS.Signals => code ?? signal)
    return { child, exited, output: () => printed }
  }
}

/** Returns its exit code, or its signal. Errors: it stays. */
async function ended({ child, exited }: Run): Promise<number | NodeJS.Signals> {
  const late = new AbortController()
  const tooLate = sleep(endMaxMs, undefined, { signal: late.signal }).then(() => {
    throw new Error(`It did not end: ${child.spawnargs.at(-1)}`)
  })
  tooLate.catch(() => {})
  return Promise.race([exited, tooLate]).finally(() => late.abort())
}

function kill({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid!, signal)
  } catch {
    // It has ended.
  }
}
