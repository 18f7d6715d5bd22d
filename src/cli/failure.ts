import { CommanderError } from 'commander'
import type { JsonObject } from '../lib/json.ts'
import type { Io } from './io.ts'
import { paint, plain } from './terminal-text.ts'

export const exitCodes = { ok: 0, refused: 1, usage: 2, unreachable: 3, interrupted: 130, terminated: 143 } as const

/** The command line itself is wrong. */
export class UsageError extends Error {}

/** The gateway refused. */
export class Refused extends Error {
  readonly problem: JsonObject

  constructor(problem: JsonObject) {
    super(String(problem.title ?? 'The gateway refused the request'))
    this.problem = problem
  }
}

/** Nothing answered at the gateway's address. */
export class Unreachable extends Error {
  constructor(url: string, reason: string) {
    super(
      `No gateway answers at ${url} (${reason}).\n` +
        '  Start one in another terminal:  rouse serve\n' +
        '  Or name another address:        --url <url>, or the environment variable ROUSE_URL',
    )
  }
}

/** Ctrl-C or SIGTERM. */
export class Interrupted extends Error {
  readonly exitCode: number

  constructor(signal: 'SIGINT' | 'SIGTERM') {
    super(`Interrupted by ${signal}`)
    this.exitCode = signal === 'SIGTERM' ? exitCodes.terminated : exitCodes.interrupted
  }
}

/** Prints what went wrong to standard error and returns the exit code for it. */
export function reportFailure(error: unknown, io: Io, json: boolean): number {
  // Commander has already printed its message or the help.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
  const interrupted = exitCodeOfInterruption(error, io.signal)
  if (interrupted !== undefined) return interrupted
  if (error instanceof Refused) {
    io.stderr(json ? `${JSON.stringify(error.problem)}\n` : problemText(error.problem, io))
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

function problemText(problem: JsonObject, io: Io): string {
  const { title, code, detail, field, hint } = problem
  const lines = [`${paint(io, 'red', 'error:')} ${plain(title ?? 'The gateway refused the request')}`]
  if (code !== undefined) lines[0] += ` (${plain(code)})`
  if (detail !== undefined && detail !== title) lines.push(`  ${plain(detail)}`)
  if (field !== undefined) lines.push(`  field: ${plain(field)}`)
  if (Array.isArray(problem.allowed))
    lines.push(`  allowed: ${problem.allowed.map((to) => plain(to)).join(', ') || 'none'}`)
  if (hint !== undefined) lines.push(`  ${plain(hint)}`)
  return `${lines.join('\n')}\n`
}
