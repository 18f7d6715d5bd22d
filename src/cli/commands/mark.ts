import { Argument, type Command } from 'commander'
import type { Io } from '../../client/io.ts'
import { plain } from '../../client/terminal-text.ts'
import { type ReportableStatus, reportableStatuses } from '../../words/mail.ts'
import { ownIds } from '../ids/own-ids.ts'
import { clientCommand, connect } from '../run/client-command.ts'

export function registerMark(parent: Command, io: Io): void {
  clientCommand(parent, 'mark <message>', 'set the status of a message that you received', [
    'rouse mark MESSAGE:019a… acked',
    'rouse mark MESSAGE:019a… resolved',
  ])
    .addArgument(
      new Argument('<status>', 'seen, acked (will act), resolved (done) or superseded').choices(reportableStatuses),
    )
    .action(async (given: string, status: ReportableStatus, _options: unknown, command: Command) => {
      const { gateway, print } = connect(io, command)
      const id = await ownIds(gateway).message(given)
      const message = await gateway.call('POST /v1/messages/:id/status', { params: { id }, body: { status } })
      print.result(message, () => `${plain(message.messageId)} is ${status}.\n`)
    })
}
