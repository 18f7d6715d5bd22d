import { readFileSync } from 'node:fs'
import { Interrupted } from '../../client/failure.ts'
import { ask } from './ask.ts'
import { endOnFault, faultExitCode } from './faults.ts'
import { runCli } from './run-cli.ts'

/** How long an idle connection may delay the end of the process after a command. */
const lingerMs = 1_000

/** Wires the command line to this process: output, environment, signals, exit code. */
export async function run(argv: readonly string[]): Promise<void> {
  const interruption = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      const interrupted = new Interrupted(signal)
      // The second one means "now": unfinished work is dropped.
      if (interruption.signal.aborted) process.exit(interrupted.exitCode)
      interruption.abort(interrupted)
    })
  }
  const faults = endOnFault(process, {
    log: (line) => process.stderr.write(line),
    end: () => interruption.abort(new Interrupted('SIGTERM')),
  })
  // `rouse tail | head` closes the pipe early, which is not a failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // Who serves a protocol on it listens too, and ends in good order.
    if (process.stdout.listenerCount('error') > 1) return
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })

  const exitCode = await runCli(argv.slice(2), {
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    stdin: () => readFileSync(0, 'utf8'),
    // Opened by who reads it: an open input keeps the process.
    get input() {
      return process.stdin.isTTY ? undefined : process.stdin
    },
    ...(process.stdin.isTTY
      ? {
          ask: (question) => ask(question, process, interruption.signal),
          askSecret: (prompt) => ask(prompt, process, interruption.signal, { isSecret: true }),
        }
      : {}),
    env: process.env,
    signal: interruption.signal,
    isTerminal: process.stdout.isTTY === true,
    color: process.stdout.isTTY === true && !process.env.NO_COLOR,
    columns: process.stdout.columns,
  })
  process.exitCode = faults.count() > 0 ? faultExitCode : exitCode
  setTimeout(() => process.exit(), lingerMs).unref()
}
