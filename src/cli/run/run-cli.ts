import type { Command } from 'commander'
import { exitCodes } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import { neededCommands } from './command-table.ts'
import { buildProgram } from './program.ts'
import { reportFailure } from './report-failure.ts'

/** Runs one command line (without the names of node and the script) and returns its exit code. Never throws. */
export async function runCli(argv: readonly string[], io: Io): Promise<number> {
  let command: Command | undefined
  const commands = neededCommands(argv)
  try {
    const program = await buildProgram(io, commands)
    program.hook('preAction', (_program, action) => {
      command = action
    })
    if (argv.length === 0) {
      program.outputHelp()
      return exitCodes.ok
    }
    await program.parseAsync(argv, { from: 'user' })
    return exitCodes.ok
  } catch (error) {
    const code = reportFailure(error, io, { json: asksForJson(argv), command })
    return commands.length === 1 && commands[0]!.neverFails ? exitCodes.ok : code
  }
}

/** Reads the arguments itself: a failure may come before the flags are parsed. */
function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return argv.slice(0, end < 0 ? undefined : end).includes('--json')
}
