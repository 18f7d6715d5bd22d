import { Interrupted } from './failure.ts'
import { runCli } from './run-cli.ts'

/** How long a finished command may be held up by an idle connection before the process ends anyway. */
const lingerMs = 1_000

/** Wires the command line to this process: output, environment, signals, exit code. */
export async function run(argv: readonly string[]): Promise<void> {
  const interruption = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      const interrupted = new Interrupted(signal)
      // The second one means "now": whatever is still being finished is left.
      if (interruption.signal.aborted) process.exit(interrupted.exitCode)
      interruption.abort(interrupted)
    })
  }
  // `rouse tail | head` closes the pipe early; that is no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })

  process.exitCode = await runCli(argv.slice(2), {
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    env: process.env,
    signal: interruption.signal,
    color: process.stdout.isTTY === true && !process.env.NO_COLOR,
    columns: process.stdout.columns,
  })
  setTimeout(() => process.exit(), lingerMs).unref()
}
