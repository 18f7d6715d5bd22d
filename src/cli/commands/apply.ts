import type { Command } from 'commander'
import type { Io } from '../../client/io.ts'
import { clientCommand, connect } from '../run/client-command.ts'
import { type ApplyOptions, runApply } from '../team/run-apply.ts'

/** `rouse apply`: a team as a file says it, with the operator's key. */
export function registerApply(program: Command, io: Io): void {
  clientCommand(
    program,
    'apply <file>',
    'make the agents, grants and subscriptions of a project what a file says; - is standard input',
    [
      'rouse apply team.yaml --dry-run           # what would change, as a diff',
      'rouse apply team.yaml --save-keys keys    # new agents: their keys go to keys/',
      'rouse apply team.yaml --prune             # and remove what the lists of the file do not have',
      'rouse export --project web | rouse apply - --project staging --save-keys keys',
    ],
  )
    .option('--dry-run', 'print what would change as a diff, and change nothing')
    .option('--prune', 'remove what is not in the lists that the file has')
    .option('--prune-all', 'the same, also where no agent, no grant or no subscription would be left')
    .option('--save-keys <directory>', 'write each new key into a file of this directory that only you can read')
    .option('-y, --yes', 'do not ask before something is removed; needed where nobody is at a terminal')
    .action((file: string, options: ApplyOptions, command: Command) =>
      runApply(io, connect(io, command), file, options),
    )
}
