import { type ChildProcess, spawn } from 'node:child_process'
import { withoutSecrets } from '../secret-input.ts'
import type { CommandAccess } from './command-access.ts'
import type { Wake } from './wake.ts'
import { textOf, type WakeContext } from './wake-context.ts'

interface WakeCommandOptions {
  command: string
  env: Readonly<Record<string, string | undefined>>
  /** Where it runs; absent: where this process does. */
  cwd?: string
  /** Absent: the command gets no key. */
  access?: CommandAccess | undefined
  /** What the wake is about; absent: the wake alone. */
  context?: WakeContext | undefined
  /** How long it may run; absent: as long as it wants. */
  timeoutMs?: number
  stdout: (text: string) => void
  stderr: (text: string) => void
  signal?: AbortSignal | undefined
}

/** An environment holds less than standard input does. */
const textMax = 32_768
/** After SIGTERM a command has this long before it is killed. */
const killAfterMs = 5_000

/**
 * Runs the command through the shell, with the wake and what it is about as JSON on its standard input. The content of a wake never
 * reaches the command line: ids and texts go into the environment, where no shell interprets them. Resolves when the command has
 * ended: with undefined if it succeeded, else with what went wrong.
 */
export async function runWakeCommand(wake: Wake, options: WakeCommandOptions): Promise<string | undefined> {
  return (await endOfWakeCommand(wake, options)).failure
}

/** How a command has ended. */
interface CommandEnd {
  /** What went wrong; absent: it succeeded. */
  readonly failure?: string
  /** False: it could not be started, so it has done nothing. */
  readonly hasStarted: boolean
  /** Absent: it was not started, or was killed. */
  readonly exitCode?: number
}

/** As `runWakeCommand`, and says how it ended. Never rejects. */
export function endOfWakeCommand(wake: Wake, options: WakeCommandOptions): Promise<CommandEnd> {
  const { command, cwd, context, timeoutMs, stdout, stderr, signal } = options
  return new Promise((resolve) => {
    const child = started(command, cwd, environmentOf(wake, options))
    if ('problem' in child) {
      stderr(`The command ${child.problem} for wake ${wake.eventId}.\n`)
      return resolve({ failure: child.problem, hasStarted: false })
    }
    let isLate = false
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
        ...(failure === undefined ? {} : { failure }),
        ...(exitCode === undefined ? {} : { exitCode }),
      })
    }
    child.stdout.setEncoding('utf8').on('data', stdout)
    child.stderr.setEncoding('utf8').on('data', stderr)
    // A command may close the pipe without reading its input.
    child.stdin.on('error', () => {})
    child.stdin.end(`${JSON.stringify({ ...wake, ...context })}\n`)
    child.once('error', (error) => end(`could not start (${error.message})`))
    child.once('close', (code, killed) => {
      end(code === 0 ? undefined : `ended with ${killed ?? `exit code ${code}`}`, code ?? undefined)
    })
    signal?.addEventListener('abort', stop, { once: true })
    if (signal?.aborted) stop()
  })
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
    ROUSE_EVENT_TYPE: text(wake.eventType),
    ROUSE_EVENT_ID: text(wake.eventId),
    ROUSE_LOG_ID: text(wake.logId),
    ROUSE_SUBSCRIPTION_ID: text(wake.subscriptionId),
    ROUSE_AGENT: text(wake.agentIdentity),
    ROUSE_TASK_ID: text(payload.taskId ?? task?.id),
    ROUSE_MESSAGE_ID: text(payload.messageId ?? message?.messageId),
    ROUSE_THREAD_ID: text(message?.threadId),
    ROUSE_FROM: text(payload.from ?? message?.from ?? task?.originator),
    ROUSE_SUBJECT: text(payload.subject ?? message?.subject),
    ROUSE_TEXT: context && text(textOf(context))?.slice(0, textMax),
  }
}

/** An environment variable ends at a NUL, and the system refuses one inside. */
function text(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value).replaceAll('\0', '') : undefined
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
