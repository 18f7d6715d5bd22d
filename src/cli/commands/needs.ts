import type { Command } from 'commander'
import type { Io } from '../../client/io.ts'
import { needsText } from '../output/needs-view.ts'
import { clientCommand, connect } from '../run/client-command.ts'

/** `rouse needs` */
export function registerNeeds(program: Command, io: Io): void {
  clientCommand(program, 'needs', 'list what waits for a person: questions, approvals, failing wakes, limits', [
    'rouse needs',
    'rouse needs --all',
    'rouse needs --json',
  ])
    .option('--all', 'also what was put off with rouse snooze')
    .action(async ({ all = false }: { all?: boolean }, command: Command) => {
      const { gateway, print } = connect(io, command)
      const found = await gateway.call('GET /v1/needs')
      print.result(found, () => needsText(io, found, all))
    })
}
