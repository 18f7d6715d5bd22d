import { type Command, Option } from 'commander'
import { UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import { createPrinter } from '../../client/printer.ts'
import { bridgeWays } from '../../harnesses/harness.ts'
import { oneHarness } from '../../harnesses/harnesses.ts'
import { listHarnesses } from '../install/list-harnesses.ts'
import { type InstallOptions, runInstall } from '../install/run-install.ts'
import { clientCommand, commonOptions, connect } from '../run/client-command.ts'
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
      'rouse install claude --bridge                   # its sessions take the wakes of rouse bridge',
      'rouse install claude --approvals                # a person may answer elsewhere what it asks',
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
    .option('--approvals', 'a person may answer from elsewhere what the harness asks its user (docs/approvals.md)')
    .option('--no-approvals', 'only its terminal answers again')
    .option(
      '--bridge',
      'with a harness: its sessions take the wakes of rouse bridge; without: rouse bridge runs as a service of this user (systemd, launchd)',
    )
    .option('--no-bridge', 'with a harness: its sessions take no wakes of rouse bridge any more')
    .addOption(
      new Option('--bridge-way <way>', 'with --bridge, where a harness has more than one way').choices([...bridgeWays]),
    )
    .action(async (name: string | undefined, _options: unknown, command: Command) => {
      const options = { ...commonOptions(command), ...command.opts<InstallOptions>() }
      if (options.dryRun && options.json) throw new UsageError('--dry-run prints a diff: without --json.')
      if (options.bridge && name === undefined) {
        return installBridge(io, createPrinter(io, options.json === true), options.dryRun === true)
      }
      const { gateway, print } = connect(io, command)
      if (name === undefined) return listHarnesses(io, print)
      await runInstall(io, oneHarness(name), options, { gateway, print })
    })
}
