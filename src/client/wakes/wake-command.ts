import { type ChildProcess, spawn } from 'node:child_process'
import { withoutSecrets } from '../secret-input.ts'
import { clip, plain } from '../terminal-text.ts'
import type { CommandAccess } from './command-access.ts'
import { inertValue, inertWord } from './inert-text.ts'
import { nudge, nudgeText } from './nudge-text.ts'
import type { Wake } from './wake.ts'
import { promptOf, type WakeContext } from './wake-context.ts'

const lengthMax = 200

/** Of a line without an end. */
const keptMax = 4_096

/** The last line of what a program prints that is not empty, as text of others is shown. */
class LastLine {
  #last = ''
  #rest = ''

  add(text: string): void {
    const lines = (this.#rest + text).split(/[\r\n]/)
    this.#rest = lines.pop()!.slice(0, keptMax)
    this.#last = lines.findLast((line) => line.trim() !== '') ?? this.#last
  }

  get text(): string {
    return clip(plain(this.#rest.trim() === '' ? this.#last : this.#rest).trim(), lengthMax)
  }
}

interface WakeCommandOptions {
  command: string
  env: Readonly<Record<string, string | undefined>>
  /** Where it runs; absent: where this process does. */
  cwd?: string
  /** Absent: the command gets no key. */
  access?: CommandAccess | undefined
  /** The subject of the wake; absent: the wake alone. */
  context?: WakeContext | undefined
  /** How long it may run; absent: as long as it wants. */
  timeoutMs?: number
  stdout: (text: string) => void
  stderr: (text: string) => void
  signal?: AbortSignal | undefined
}

/** An environment holds less than standard input does: Linux 128 KiB a variable. */
const textMax = 32_768
/** After SIGTERM a command has this long before it is killed. */
const killAfterMs = 5_000

/**
 * Runs the command through the shell, with the wake and what it is about as JSON on its standard input, and ids and texts in the
 * environment. What others wrote is never a part of the command, and a command that passes a variable on as a word passes on neither
 * an option nor the name of a file: see `inertValue`. Resolves when the command has ended. Never rejects.
 */
export function runWakeCommand(wake: Wake, options: WakeCommandOptions): Promise<CommandEnd> {
  const { command, cwd, context, timeoutMs, stdout, stderr, signal } = options
  return new Promise((resolve) => {
    const child = started(command, cwd, environmentOf(wake, options))
    if ('problem' in child) {
      stderr(`The command ${child.problem} for wake ${wake.eventId}.\n`)
      return resolve({ failure: child.problem, hasStarted: false, lastLine: '' })
    }
    let isLate = false
    const said = { out: new LastLine(), err: new LastLine() }
    const stop = () => stopGroup(child)
    const expire = (): void => {
      isLate = true
      stop()
    }
    const timer = timeoutMs === undefined ? undefined : setTimeout(expire, timeoutMs)
    const end = (problem: string | undefined, exitCode?: number) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
      const failure = isLate ? `took longer than ${timeoutMs! / 1_000} s` : problem
      if (failure) stderr(`The command ${failure} for wake ${wake.eventId}.\n`)
      resolve({
        hasStarted: child.pid !== undefined,
        lastLine: said.err.text || said.out.text,
        ...(failure === undefined ? {} : { failure }),
        ...(exitCode === undefined ? {} : { exitCode }),
      })
    }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said.out.add(text)
      stdout(text)
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said.err.add(text)
      stderr(text)
    })
    // A command may close the pipe without reading its input.
    child.stdin.on('error', () => {})
    // A harness that reads the JSON itself finds no name of a file in it: see `withoutMentions`.
    child.stdin.end(`${JSON.stringify({ ...wake, ...context }).replaceAll('@', '\\u0040')}\n`)
    child.once('error', (error) => end(`could not start (${error.message})`))
    child.once('close', (code, killed) => {
      end(code === 0 ? undefined : `ended with ${killed ?? `exit code ${code}`}`, code ?? undefined)
    })
    signal?.addEventListener('abort', stop, { once: true })
    if (signal?.aborted) stop()
  })
}

/** How a command has ended. */
interface CommandEnd {
  /** The failure; absent: it succeeded. */
  readonly failure?: string
  /** False: it could not be started, so it has done nothing. */
  readonly hasStarted: boolean
  /** Absent: it was not started, or was killed. */
  readonly exitCode?: number
  /** The last line that it has printed, first on standard error; at most 200 characters. Empty: it has printed nothing. */
  readonly lastLine: string
}

const groups = process.platform !== 'win32'

/** The process of a command, or why it cannot be one: arguments that are too long fail at once. */
function started(command: string, cwd: string | undefined, env: Record<string, string | undefined>) {
  try {
    // Its own process group, so that a stop reaches the processes that the shell has started.
    return spawn(command, { shell: true, ...(cwd === undefined ? {} : { cwd }), env, stdio: 'pipe', detached: groups })
  } catch (error) {
    return { problem: `could not start (${(error as Error).message})` }
  }
}

function environmentOf(wake: Wake, { env, access, context }: WakeCommandOptions): Record<string, string | undefined> {
  const { payload } = wake
  const [message] = context?.messages ?? []
  const [task] = context?.tasks ?? []
  return {
    // Text of others may control what the command starts.
    ...withoutSecrets(env),
    ...(access ? { ROUSE_URL: access.url, ROUSE_KEY: access.key } : {}),
    // As OpenTelemetry passes a trace on to a process; `rouse` sends it along.
    TRACEPARENT: wake.traceparent,
    ROUSE_EVENT_TYPE: inertValue(wake.eventType),
    ROUSE_EVENT_ID: inertValue(wake.eventId),
    ROUSE_LOG_ID: inertValue(wake.logId),
    ROUSE_SUBSCRIPTION_ID: inertValue(wake.subscriptionId),
    ROUSE_AGENT: inertValue(wake.agentIdentity),
    ROUSE_TASK_ID: inertValue(payload.taskId ?? task?.id),
    ROUSE_MESSAGE_ID: inertValue(payload.messageId ?? message?.messageId),
    ROUSE_THREAD_ID: inertValue(message?.threadId),
    ROUSE_FROM: inertValue(payload.from ?? message?.from ?? task?.originator),
    ROUSE_SUBJECT: inertValue(payload.subject ?? message?.subject),
    ROUSE_TEXT: textOf(wake, context),
  }
}

/** The text of a nudge is all that there is to it: it names no message and no task. */
function textOf({ eventType, payload }: Wake, context: WakeContext | undefined): string | undefined {
  if (eventType === nudge) return inertWord(Object.values(nudgeText(payload)).join('\n'))
  return context && inertWord(promptOf(context, textMax))
}

function stopGroup(child: ChildProcess): void {
  kill(child, 'SIGTERM')
  const timer = setTimeout(() => kill(child, 'SIGKILL'), killAfterMs)
  child.once('close', () => clearTimeout(timer))
}

function kill({ pid }: ChildProcess, how: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return
  try {
    process.kill(groups ? -pid : pid, how)
  } catch {
    // It has already ended.
  }
}
