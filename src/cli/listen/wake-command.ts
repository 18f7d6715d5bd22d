import { spawn } from 'node:child_process'
import { withoutSecrets } from '../secret-input.ts'
import type { Wake } from './wake.ts'

interface WakeCommandOptions {
  command: string
  env: Readonly<Record<string, string | undefined>>
  stdout: (text: string) => void
  stderr: (text: string) => void
  signal?: AbortSignal
}

/**
 * Runs the command through the shell with the wake as JSON on its standard input. The content of a wake never
 * reaches the command line: ids go into the environment, where no shell interprets them. Resolves when the command has ended.
 */
export function runWakeCommand(wake: Wake, options: WakeCommandOptions): Promise<void> {
  const { command, stdout, stderr, signal } = options
  return new Promise((resolve) => {
    const child = spawn(command, {
      shell: true,
      env: environmentOf(wake, options.env),
      stdio: ['pipe', 'pipe', 'pipe'],
      // Its own process group, so that a stop reaches the processes that the shell has started.
      detached: groups,
    })
    const stop = () => stopGroup(child.pid)
    const end = (problem: string | undefined) => {
      signal?.removeEventListener('abort', stop)
      if (problem) stderr(`The command ${problem} for wake ${wake.eventId}.\n`)
      resolve()
    }
    child.stdout.setEncoding('utf8').on('data', stdout)
    child.stderr.setEncoding('utf8').on('data', stderr)
    // A command may close the pipe without reading its input.
    child.stdin.on('error', () => {})
    child.stdin.end(`${JSON.stringify(wake)}\n`)
    child.once('error', (error) => end(`could not start (${error.message})`))
    child.once('close', (code, killed) => end(code === 0 ? undefined : `ended with ${killed ?? `exit code ${code}`}`))
    signal?.addEventListener('abort', stop, { once: true })
  })
}

const groups = process.platform !== 'win32'

function environmentOf(wake: Wake, env: WakeCommandOptions['env']): Record<string, string | undefined> {
  return {
    // Text of others may control what the command starts.
    ...withoutSecrets(env),
    ROUSE_EVENT_TYPE: text(wake.eventType),
    ROUSE_EVENT_ID: text(wake.eventId),
    ROUSE_LOG_ID: text(wake.logId),
    ROUSE_SUBSCRIPTION_ID: text(wake.subscriptionId),
    ROUSE_TASK_ID: text(wake.payload.taskId),
  }
}

/** An environment variable ends at a NUL, and the system refuses one inside. */
function text(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value).replaceAll('\0', '') : undefined
}

function stopGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(groups ? -pid : pid, 'SIGTERM')
  } catch {
    // It has already ended.
  }
}
