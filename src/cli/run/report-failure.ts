import { type Command, CommanderError } from 'commander'
import { exitCodes, Interrupted, Refused, Reported, Unreachable, UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import { paint, plain } from '../../client/terminal-text.ts'
import { problemText } from '../output/problem-text.ts'

/** How a failure is reported, and of which command. */
interface Report {
  readonly json: boolean
  readonly command?: Command | undefined
}

/** Prints what went wrong to standard error and returns the exit code for it. */
export function reportFailure(error: unknown, io: Io, { json, command }: Report): number {
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
