import type { Io } from '../../client/io.ts'
import { programPath } from '../../harnesses/program-path.ts'
import { talk } from '../../harnesses/talk.ts'

const commandMaxMs = 30_000

/** Runs commands of a service manager until one fails. Returns what failed and why; undefined: all of them were carried out. */
export async function runCommands(
  io: Pick<Io, 'env'>,
  commands: readonly (readonly string[])[],
): Promise<{ readonly command: string; readonly reason: string } | undefined> {
  for (const words of commands) {
    const reason = await failureOf(io, words)
    if (reason !== undefined) return { command: words.join(' '), reason }
  }
  return undefined
}

async function failureOf(
  { env }: Pick<Io, 'env'>,
  [program = '', ...args]: readonly string[],
): Promise<string | undefined> {
  const path = programPath(program, { env, platform: process.platform })
  if (path === undefined) return `${program} is not in PATH`
  const { complaint, end, exitCode } = await talk({ path, args, env, timeoutMs: commandMaxMs }, '', () => false)
  if (end === 'exited' && exitCode === 0) return undefined
  return complaint || (end === 'exited' ? `it ended with ${exitCode}` : 'it did not end in time')
}
