import type { Command } from 'commander'
import { clientCommand, connect } from '../client-command.ts'
import { pathOf } from '../gateway-client.ts'
import type { Io } from '../io.ts'
import { plain } from '../terminal-text.ts'
import { type MailView, threadText } from '../views/mail-view.ts'

export function registerThread(parent: Command, io: Io): void {
  clientCommand(parent, 'thread <id>', 'read a conversation, with how far each message has come', [
    'rouse thread MESSAGE:019a…',
  ])
    .option('--page-token <token>', 'the next page, as the page before named it')
    .action(async (id: string, { pageToken }: { pageToken?: string }, command: Command) => {
      const { gateway, print } = connect(io, command)
      const answer = await gateway.call<{ messages?: MailView[]; nextPageToken?: string }>(
        'GET',
        pathOf('/v1/threads', id),
        { query: { pageToken } },
      )
      print.result(answer, () => {
        const more = answer.nextPageToken ? `\nMore with --page-token ${plain(answer.nextPageToken)}\n` : ''
        return threadText(io, answer.messages ?? []) + more
      })
    })
}
