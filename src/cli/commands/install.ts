import { type Command, Option } from 'commander'
import { clientCommand, commonOptions, connect } from '../client-command.ts'
import { UsageError } from '../failure.ts'
import { harnessIds } from '../install/harness.ts'
import { oneHarness } from '../install/harness-names.ts'
import { listHarnesses } from '../install/list-harnesses.ts'
import { type InstallOptions, runInstall } from '../install/run-install.ts'
import type { Io } from '../io.ts'
import { createPrinter } from '../printer.ts'
import { installBridge } from '../service/bridge-service.ts'

export function registerInstall(program: Command, io: Io): void {
  clientCommand(
    program,
    'install [harness]',
    'give a harness the tools and the mail of an agent: writes its configuration; without a name, lists the harnesses',
    [
      'rouse install                                   # which harnesses are here, and what is installed',
      'rouse install codex --dry-run                   # what would change, as a diff',
      'rouse install codex --profile donna             # with a profile of rouse login',
      'rouse install claude --agent @donna             # with the operator’s key: makes a key and a profile for donna',
      'rouse install cursor --scope project',
      'rouse install --bridge                          # runs the bridge in the background, from each login on',
    ],
  )
    .option('--dry-run', 'print what would change as a diff, and change nothing')
    .option('--agent <handle>', 'the agent whose mail the harness gets; makes a key for it where no profile has one')
    .addOption(
      new Option('--scope <scope>', 'for the user, or in this folder').choices(['user', 'project']).default('user'),
    )
    .option('--http', 'the harness calls the gateway itself, with the key from its environment (ROUSE_KEY)')
    .option('--approve-tools', 'the harness may call the tools without asking each time')
    .option('--no-approve-tools', 'the harness asks each time again')
    .option('--bridge', 'have rouse bridge run as a service of this user (systemd, launchd)')
    .action(async (name: string | undefined, _options: unknown, command: Command) => {
      const options = { ...commonOptions(command), ...command.opts<InstallOptions & { readonly bridge?: true }>() }
      if (options.dryRun && options.json) throw new UsageError('--dry-run prints a diff: without --json.')
      if (options.bridge) {
        if (name !== undefined) throw new UsageError('--bridge is for all harnesses: without the name of one.')
        return installBridge(io, createPrinter(io, options.json === true), options.dryRun === true)
      }
      const { gateway, print } = connect(io, command)
      if (name === undefined) return listHarnesses(io, print)
      await runInstall(io, oneHarness(name, harnessIds), options, { gateway, print })
    })
}
