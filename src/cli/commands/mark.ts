import { Argument, type Command } from 'commander'
import { clientCommand, connect } from '../client-command.ts'
import { pathOf } from '../gateway-client.ts'
import type { Io } from '../io.ts'
import { plain } from '../terminal-text.ts'
import type { MailView } from '../views/mail-view.ts'

export function registerMark(parent: Command, io: Io): void {
  clientCommand(parent, 'mark <message>', 'tell the sender how far you are with its message', [
    'rouse mark MESSAGE:019a… acked',
    'rouse mark MESSAGE:019a… resolved',
  ])
    .addArgument(
      new Argument('<status>', 'seen, acked (will act), resolved (done) or superseded').choices([
        'seen',
        'acked',
        'resolved',
        'superseded',
      ]),
    )
    .action(async (id: string, status: string, _options: unknown, command: Command) => {
      const { gateway, print } = connect(io, command)
      const mail = await gateway.call<MailView>('POST', `${pathOf('/v1/messages', id)}/status`, { body: { status } })
      print.result(mail, () => `${plain(mail.messageId)} is ${status}.\n`)
    })
}
