import { type Command, Option } from 'commander'
import { UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import { createPrinter } from '../../client/printer.ts'
import type { Scope } from '../../config-files/record.ts'
import { oneHarness } from '../../harnesses/harnesses.ts'
import { applyUninstall, planUninstall } from '../install/install-files.ts'
import { leftProfiles } from '../install/left-profiles.ts'
import { diffText, resultText } from '../install/show.ts'
import { clientCommand, commonOptions } from '../run/client-command.ts'
import { uninstallBridge } from '../service/bridge-service.ts'

interface UninstallOptions {
  readonly dryRun?: boolean
  readonly scope: Scope
  readonly bridge?: true
}

export function registerUninstall(program: Command, io: Io): void {
  clientCommand(program, 'uninstall [harness]', 'take out of a harness what rouse install wrote, and nothing else', [
    'rouse uninstall codex --dry-run',
    'rouse uninstall codex',
    'rouse uninstall cursor --scope project',
    'rouse uninstall --bridge                # stops the service of the bridge, and removes it',
  ])
    .option('--dry-run', 'print what would change as a diff, and change nothing')
    .addOption(
      new Option('--scope <scope>', 'for the user, or in this folder').choices(['user', 'project']).default('user'),
    )
    .option('--bridge', 'stop the service of rouse bridge and remove it')
    .action(async (name: string | undefined, { dryRun, scope, bridge }: UninstallOptions, command: Command) => {
      const json = commonOptions(command).json === true
      if (dryRun && json) throw new UsageError('--dry-run prints a diff: without --json.')
      const print = createPrinter(io, json)
      if (bridge && name !== undefined) throw new UsageError('--bridge is for all harnesses: without the name of one.')
      if (bridge) return uninstallBridge(io, print, dryRun === true)
      if (name === undefined)
        throw new UsageError('Name a harness, or --bridge. rouse install lists what is installed.')
      const harness = oneHarness(name)
      const work = planUninstall(io, { harness: harness.id, scope }, process.cwd())
      if (dryRun) return io.stdout(diffText(work))
      const results = applyUninstall(io, work)
      const text = results.length === 0 ? `rouse install has written nothing for ${harness.title}.\n` : undefined
      const next = leftProfiles(io, work)
      print.result({ harness: harness.id, scope, files: results, next }, () => {
        const said = text ?? resultText(io, harness, results, 'restored')
        return `${said}${next.map((note) => `${note}\n`).join('')}`
      })
    })
}
