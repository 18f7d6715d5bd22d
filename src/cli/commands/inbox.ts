import type { Command } from 'commander'
import type { Io } from '../../client/io.ts'
import { plain } from '../../client/terminal-text.ts'
import type { MessageType } from '../../words/mail.ts'
import { integer, messageType } from '../options/option-values.ts'
import { inboxTable } from '../output/mail-view.ts'
import { clientCommand, connect } from '../run/client-command.ts'

interface InboxOptions {
  unread?: true
  agent?: string
  type?: MessageType
  signalType?: string
  concept?: string
  limit?: number
  pageToken?: string
}

export function registerInbox(parent: Command, io: Io): void {
  clientCommand(parent, 'inbox', "read the mail of the agent of the key; with the admin key, the operator's mail", [
    'rouse inbox --unread',
    'rouse inbox --agent @donna          # needs her permission or the admin key',
    'rouse inbox --type question --json',
    'rouse inbox --concept sunset-protocol-handover   # what the session before has left',
  ])
    .option('--unread', 'only messages without a status yet, oldest first')
    .option('--agent <agent>', 'read the inbox of this agent')
    .option('--type <type>', 'msg, task, handoff, ack, question, answer or relay', messageType)
    .option('--signal-type <type>', 'only signals of this type')
    .option('--concept <concept>', 'only mail with this tagged concept')
    .option('--limit <n>', 'the largest number of rows (default: 50)', integer(1, 200))
    .option('--page-token <token>', 'the next page: the token at the end of the previous page')
    .action(async (options: InboxOptions, command: Command) => {
      const { gateway, print } = connect(io, command)
      const { unread, ...rest } = options
      const query = {
        unread: unread ? 'true' : undefined,
        agent: rest.agent,
        type: rest.type,
        signalType: rest.signalType,
        taggedConcept: rest.concept,
        limit: rest.limit,
        pageToken: rest.pageToken,
      }
      const answer = await gateway.call('GET /v1/inbox', { query })
      print.result(answer, () => {
        const more = answer.nextPageToken ? `More with --page-token ${plain(answer.nextPageToken)}\n` : ''
        return inboxTable(io, answer.messages, unread === true) + more
      })
    })
}
