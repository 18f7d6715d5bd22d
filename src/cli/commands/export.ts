import type { Command } from 'commander'
import type { Io } from '../../client/io.ts'
import { clientCommand, connect } from '../run/client-command.ts'
import { knownTeam } from '../team/known-entries.ts'
import { readTeam } from '../team/read-team.ts'
import { teamText, teamValue } from '../team/team-text.ts'

/** `rouse export`: the team of a project as a file for `rouse apply`, with the operator's key. */
export function registerExport(program: Command, io: Io): void {
  clientCommand(
    program,
    'export',
    'print the agents, grants and subscriptions of a project as a file for rouse apply; never a key',
    ['rouse export > team.yaml', 'rouse export --project web --json'],
  ).action(async (_options: unknown, command: Command) => {
    const { gateway, print } = connect(io, command)
    const team = knownTeam(await readTeam(gateway))
    print.result(teamValue(team), () => teamText(team))
  })
}
