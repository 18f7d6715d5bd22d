import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { isatty } from 'node:tty'
import { Command, CommanderError } from 'commander'
import { exitCodes, Interrupted, Refused, Reported, Unreachable, UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import { paint, plain } from '../../client/terminal-text.ts'
import { readVersion } from '../../lib/version.ts'
import { problemText } from '../output/problem-text.ts'
import { wantsColor } from '../output/state-colors.ts'
import { addClientOptions } from './client-command.ts'
import { type CommandEntry, commandTable, groupOf, neededCommands } from './command-table.ts'
import { endOnFault, faultExitCode } from './faults.ts'
import { overview } from './overview.ts'

const exitCodeHelp = `Exit codes:
  0  done                        3  no gateway answered
  1  the gateway refused         4  carried out without success (send --wait, sub test, wake test)
  2  the command line is wrong   5  the task asks something (send --wait, answer --wait)
  130  interrupted with Ctrl-C`

/** Of a terminal that does not know its own. */
const columnsDefault = 80

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
  let isCut = false
  // `rouse tail | head` closes the pipe early, which is not a failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A command that serves a protocol on it listens too, and ends in good order.
    if (process.stdout.listenerCount('error') > 1) return
    if (error.code === 'EPIPE') process.exit(0)
    if (isCut) return
    isCut = true
    process.stderr.write(`error: The output cannot be written: ${error.message}\n`)
    // It may come after the end of the command, whose exit code counts no more.
    process.exitCode = exitCodes.refused
    interruption.abort(new Interrupted('SIGTERM'))
  })

  // Not `process.stdin.isTTY`: it opens the stream, and a read of a pipe whose writer is slow then fails instead of waiting.
  const hasTerminal = isatty(0)
  const exitCode = await runCli(argv.slice(2), {
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    stdin: () => readFileSync(0, 'utf8'),
    // Opened by who reads it: an open input keeps the process.
    get input() {
      return hasTerminal ? undefined : process.stdin
    },
    ...(hasTerminal
      ? {
          ask: (question) => ask(question, process, interruption.signal),
          askSecret: (prompt) => ask(prompt, process, interruption.signal, { isSecret: true }),
        }
      : {}),
    env: process.env,
    signal: interruption.signal,
    isTerminal: process.stdout.isTTY === true,
    color: wantsColor(process.env, process.stdout.isTTY === true),
    columns: process.stdout.isTTY ? process.stdout.columns || columnsDefault : undefined,
    errorColumns: process.stderr.isTTY ? process.stderr.columns || columnsDefault : undefined,
  })
  process.exitCode = faults.count() > 0 ? faultExitCode : isCut ? exitCodes.refused : exitCode
  setTimeout(() => process.exit(), lingerMs).unref()
}

/** Runs one command line (without the names of node and the script) and returns its exit code. Never throws. */
export async function runCli(argv: readonly string[], io: Io): Promise<number> {
  if (asksForOverview(argv)) {
    io.stdout(overview(io))
    return exitCodes.ok
  }
  let command: Command | undefined
  const commands = neededCommands(argv)
  try {
    const program = await buildProgram(io, commands)
    program.hook('preAction', (_program, action) => {
      command = action
    })
    if (argv[0] === 'help' && argv[1] === 'all') {
      io.stdout(fullHelp(program))
      return exitCodes.ok
    }
    await program.parseAsync(argv, { from: 'user' })
    return exitCodes.ok
  } catch (error) {
    const code = reportFailure(error, io, { json: asksForJson(argv), command })
    return commands[0]?.neverFails ? exitCodes.ok : code
  }
}

const asksForOverview = ([first, ...rest]: readonly string[]): boolean =>
  rest.length === 0 && (first === undefined || ['help', '--help', '-h'].includes(first))

/** Reads the arguments itself: a failure may come before the flags are parsed. */
function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return argv.slice(0, end < 0 ? undefined : end).includes('--json')
}

/** How a failure is reported, and of which command. */
interface Report {
  readonly json: boolean
  readonly command?: Command | undefined
}

/** Prints what went wrong to standard error and returns the exit code for it. */
function reportFailure(error: unknown, io: Io, { json, command }: Report): number {
  // Commander has already printed its message or the help.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
  if (error instanceof Reported) return error.exitCode
  const interrupted = exitCodeOfInterruption(error, io.signal)
  if (interrupted !== undefined) return interrupted
  if (error instanceof Refused) {
    const { problem, keyUse } = error
    const document = keyUse === undefined ? problem : { ...problem, keyUse }
    io.stderr(json ? `${JSON.stringify(document)}\n` : problemText(problem, io, { command, keyUse }))
    return exitCodes.refused
  }
  const [code, exitCode] = kindOf(error)
  const message = error instanceof Error ? error.message : String(error)
  const text = `${paint(io, 'red', 'error:')} ${plain(message, 'lines')}`
  io.stderr(`${json ? JSON.stringify({ title: message, code }) : text}\n`)
  return exitCode
}

function kindOf(error: unknown): [code: string, exitCode: number] {
  if (error instanceof UsageError) return ['usage', exitCodes.usage]
  if (error instanceof Unreachable) return ['unreachable', exitCodes.unreachable]
  return ['failed', exitCodes.refused]
}

function exitCodeOfInterruption(error: unknown, signal: AbortSignal | undefined): number | undefined {
  if (error instanceof Interrupted) return error.exitCode
  if (!signal?.aborted) return undefined
  return error === signal.reason || (error as Error).name === 'AbortError' ? exitCodes.interrupted : undefined
}

/** The command line with some of its commands, by default with all. */
export async function buildProgram(io: Io, commands: readonly CommandEntry[] = commandTable): Promise<Command> {
  const program = new Command('rouse')
    .description(
      'Rouse lets AI agents send each other work, and wakes them: each has an A2A address, a durable inbox, and MCP tools for its harness.',
    )
    .version(readVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help for a command')
    .configureOutput({
      writeOut: (text) => io.stdout(text),
      writeErr: (text) => io.stderr(text),
      getOutHelpWidth: () => io.columns ?? 100,
      getErrHelpWidth: () => io.columns ?? 100,
    })
    .exitOverride()
    .showHelpAfterError('(add --help for the options and examples)')
    // Options before the command's name are common to all commands; options after it belong to the command.
    .enablePositionalOptions()
  addClientOptions(program)

  const registers = await Promise.all(commands.map((command) => command.load()))
  for (const [index, register] of registers.entries()) {
    register(program, io)
    program.commands.at(-1)!.helpGroup(`${groupOf(commands[index]!)}:`)
  }
  return program
}

/** `rouse help all`: each command in a line, in its group. */
const fullHelp = (program: Command): string => `${program.helpInformation()}\n${exitCodeHelp}\n`

/** The streams of the process that a question needs. */
interface Terminal {
  readonly stdin: NodeJS.ReadableStream
  readonly stderr: NodeJS.WritableStream
}

/** Asks for one line on the terminal. A secret is not shown while it is typed. Errors: Ctrl-C, Ctrl-D, the signal. */
async function ask(
  question: string,
  { stdin, stderr }: Terminal,
  signal: AbortSignal,
  { isSecret = false }: { isSecret?: boolean } = {},
): Promise<string> {
  // readline echoes what is typed to its output: this one swallows it.
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  if (isSecret) stderr.write(question)
  const lines = createInterface({ input: stdin, output: isSecret ? silent : stderr, terminal: true })
  // The terminal is raw meanwhile, so Ctrl-C arrives here as a key. Ctrl-D closes the input.
  const ended = new AbortController()
  lines.on('SIGINT', () => ended.abort(new Interrupted('SIGINT')))
  lines.on('close', () => ended.abort(new UsageError('There was no answer.')))
  try {
    return await lines.question(isSecret ? '' : question, { signal: AbortSignal.any([signal, ended.signal]) })
  } catch (error) {
    throw ended.signal.reason ?? error
  } finally {
    lines.close()
    if (isSecret) stderr.write('\n')
  }
}
