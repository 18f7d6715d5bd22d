import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Io } from '../../client/io.ts'
import { withheldVariables, withoutSecrets } from '../../client/secret-input.ts'
import { type ProcessStart, processStart } from '../processes.ts'
import type { Recipe } from './recipe.ts'

/** The parts that a start takes beside its recipe. */
interface Starting {
  /** Fixed text of ours. */
  readonly prompt: string
  readonly env: Io['env']
  /** The profile of the agent, which the programs of Rouse in the harness use. */
  readonly profile: string
  /** The name of its terminal, where it has one: `rouse-donna-7`. */
  readonly name: string
  /** Where its files are: a directory of this user alone. */
  readonly directory: string
  /** Called with the process before its command runs. Errors: it does not run. */
  readonly recorded: (pid: number, start: ProcessStart) => void
}

/** A process that was started. */
export interface StartedProcess {
  readonly pid: number
  /** How it has ended, in words: `exit code 1`; undefined: it has not, or nobody knows how. */
  readonly ending: () => string | undefined
}

/** The same, with what removes its files. */
interface CleanProcess extends StartedProcess {
  readonly clean: () => void
}

/**
 * The shell waits for the file that names it, reads it, and becomes the command: the same process, with the same start. So a bridge that
 * is killed before it has the process on record leaves nothing that runs: without the file the shell ends by itself.
 */
const waitThenBecome =
  'n=0; until [ -e "$0" ]; do n=$((n+1)); [ "$n" -gt 50 ] && exit 75; sleep 0.1; done; . "$0"; rm -f "$0"; exec "$@"'
/** A unit of its own for what a service starts. Source: systemd-run(1), systemd.exec(5) for INVOCATION_ID. */
const inScope = ['systemd-run', '--user', '--scope', '--collect', '--quiet', '--']
/** Shorter than what it starts waits. */
const tmuxMaxMs = 4_000
/** A terminal has its own of these. */
const ofTerminal = ['TERM', 'TMUX', 'TMUX_PANE', 'COLUMNS', 'LINES', 'PWD', 'OLDPWD', 'SHLVL', '_']

/** Starts the process of a recipe, in a process group of its own. Errors: it cannot be started, and nothing runs. */
export async function startProcess(recipe: Recipe, starting: Starting): Promise<CleanProcess> {
  const { directory, recorded, env, profile } = starting
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const go = join(directory, `${randomBytes(8).toString('hex')}.go`)
  const own = { ...withoutSecrets(env), ROUSE_PROFILE: profile, ...recipe.env }
  const argv = [waitThenBecome, go, ...commandOf(recipe, starting)]
  const started = recipe.terminal === 'tmux' ? await inTmux(recipe, argv, starting) : plainly(recipe, argv, own)
  const start = processStart(started.pid)
  if (start === undefined) throw new Error(`it ended at once${started.ending() ? `: ${started.ending()}` : ''}`)
  recorded(started.pid, start)
  // Whole, or not there. A process that was started plainly has its environment.
  try {
    writeFileSync(`${go}.new`, recipe.terminal === 'tmux' ? exports(own) : '', { mode: 0o600 })
    renameSync(`${go}.new`, go)
  } finally {
    rmSync(`${go}.new`, { force: true })
  }
  started.begin(starting.prompt)
  // It has removed it itself, unless it was killed: there may be secrets in it.
  return { ...started, clean: () => rmSync(go, { force: true }) }
}

interface WaitingProcess extends StartedProcess {
  readonly begin: (prompt: string) => void
}

function plainly(
  { cwd, prompt: way }: Recipe,
  argv: readonly string[],
  env: Record<string, string | undefined>,
): WaitingProcess {
  let ending: string | undefined
  const stdio = [way === 'stdin' ? 'pipe' : 'ignore', 'ignore', 'ignore'] as const
  const child = spawn('/bin/sh', ['-c', ...argv], { cwd, env, detached: true, stdio: [...stdio] })
  child.once('error', (error) => (ending = error.message))
  child.once('exit', (code, signal) => (ending = signal ?? `exit code ${code}`))
  child.unref()
  if (child.pid === undefined) throw new Error('it cannot be started: /bin/sh or the directory is missing')
  child.stdin?.on('error', () => {})
  return { pid: child.pid, ending: () => ending, begin: (prompt) => void child.stdin?.end(`${prompt}\n`) }
}

async function inTmux({ cwd }: Recipe, argv: readonly string[], { env, name }: Starting): Promise<WaitingProcess> {
  const options = { env: { ...withoutSecrets(env), TMUX: undefined }, timeout: tmuxMaxMs, encoding: 'utf8' } as const
  const session = ['new-session', '-d', '-P', '-F', '#{pane_pid}', '-s', name, '-c', cwd]
  const command = ['tmux', ...session, '--', '/bin/sh', '-c', ...argv]
  const begin = ([program, ...words]: readonly string[]) => promisify(execFile)(program!, words, options)
  // A server that begins here is no part of the service of the bridge. Without a systemd of the user it begins all the same.
  const isService = env.INVOCATION_ID !== undefined
  const scoped = isService ? await begin([...inScope, ...command]).catch(() => undefined) : undefined
  const failed = (error: Error & { stderr?: string }): never => {
    throw new Error(`tmux: ${(error.stderr || error.message).trim().split('\n')[0]}`)
  }
  const { stdout } = scoped ?? (await begin(command).catch(failed))
  const pid = Number(stdout.trim())
  if (!Number.isSafeInteger(pid) || pid < 2) throw new Error('tmux does not say which process it has started')
  return { pid, ending: () => undefined, begin: () => {} }
}

/** The environment as a script of the shell: on a command line every user of this machine could read it. */
function exports(env: Readonly<Record<string, string | undefined>>): string {
  const names = Object.keys(env).filter((name) => /^[A-Za-z_]\w*$/.test(name) && !ofTerminal.includes(name))
  const set = names.flatMap((name) => (env[name] === undefined ? [] : [`export ${name}=${quoted(env[name])}\n`]))
  return `unset ${withheldVariables.join(' ')}\n${set.join('')}`
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

function commandOf({ command, prompt: way }: Recipe, { prompt, directory, name }: Starting): readonly string[] {
  if (way === 'stdin') return command
  if (way === 'argument') return [...command, prompt]
  const path = join(directory, `${name}.txt`)
  writeFileSync(path, `${prompt}\n`, { mode: 0o600 })
  return [...command, path]
}
