import { Command } from 'commander'
import type { Io } from '../../client/io.ts'
import { readVersion } from '../../lib/version.ts'
import { addClientOptions, withExamples } from './client-command.ts'
import { type CommandEntry, commandTable } from './command-table.ts'

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
  for (const register of registers) register(program, io)

  withExamples(program, [
    'rouse demo                                 # see it work in half a minute',
    'rouse serve                                # start the gateway',
    'rouse agent add @donna --save-key donna.key   # in another terminal: make an agent, and keep her key',
    'rouse install codex --agent @donna           # give Codex her mail, as tools and at the start of its turns',
    "rouse listen --subscribe SENT_TO_ME --key-file donna.key   # wait for donna's wakes",
    'rouse send @donna "Please review PR 7"     # in a third terminal: wake her',
  ])
  return program.addHelpText('after', `\n${exitCodeHelp}`)
}

const exitCodeHelp = `Exit codes:
  0  done                      2  the command line is wrong
  1  the gateway refused       3  no gateway answered
  130  interrupted with Ctrl-C`
