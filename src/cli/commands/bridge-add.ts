import { Argument, type Command } from 'commander'
import { UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import { createPrinter } from '../../client/printer.ts'
import { adapters } from '../../harnesses/adapters.ts'
import type { BridgeAddOptions } from '../install/run-bridge-add.ts'
import { collect } from '../options/option-values.ts'
import { clientCommand, connect } from '../run/client-command.ts'

export const bridgeConfigOption = [
  '--config <file>',
  'the configuration (default: $ROUSE_BRIDGE_CONFIG, else bridge.json beside the profiles)',
] as const

/** `rouse bridge add`: another agent for the bridge of this user. */
export function registerBridgeAdd(bridge: Command, io: Io): void {
  clientCommand(
    bridge,
    'add <handle>',
    'add an agent to the configuration, with a key and a profile where it has none',
    [
      'rouse bridge add @erik claude                                # in this directory',
      'rouse bridge add @erik claude --directory ~/src/app --dry-run',
      'rouse bridge add @erik                                       # the harnesses in which rouse install has named its profile',
    ],
  )
    .addArgument(new Argument('[harness...]', 'the preferred one first').choices(Object.keys(adapters)))
    .option('--directory <directory>', 'where its conversations may be woken; repeatable (default: here)', collect)
    .option('--approvals', 'a person may answer from elsewhere what its harnesses ask their user (docs/approvals.md)')
    .option(...bridgeConfigOption)
    .option('--dry-run', 'print what would change as a diff, and change nothing')
    .action(async (handle: string, harnesses: string[], _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<BridgeAddOptions & { json?: true }>()
      if (options.dryRun && options.json) throw new UsageError('--dry-run prints a diff: without --json.')
      const { gateway } = connect(io, command)
      const print = createPrinter(io, options.json === true)
      const { runBridgeAdd } = await import('../install/run-bridge-add.ts')
      await runBridgeAdd(io, { handle, harnesses }, options, { gateway, print, adapters })
    })
}
