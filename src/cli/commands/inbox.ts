import type { Command } from 'commander'
import type { GatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import type { TaskSummaryView } from '../../client/route-types.ts'
import { plain } from '../../client/terminal-text.ts'
import type { MessageType } from '../../words/mail.ts'
import { integer, messageType } from '../options/option-values.ts'
import { inboxTable } from '../output/mail-view.ts'
import { askingStates, questionTable } from '../output/task-view.ts'
import { clientCommand, connect } from '../run/client-command.ts'
import { readableTasks } from '../run/read-lists.ts'

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
  clientCommand(
    parent,
    'inbox',
    "read the mail of the agent of the key and what waits for its answer; with the admin key, the operator's",
    [
      'rouse inbox --unread',
      'rouse inbox --agent @donna          # needs her permission or the admin key',
      'rouse inbox --type question --json',
      'rouse inbox --concept sunset-protocol-handover   # what the session before has left',
    ],
  )
    .option('--unread', 'only messages without a status yet, oldest first')
    .option('--agent <handle>', 'read the inbox of this agent')
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
      // Programs ask for tasks by their state.
      const questions =
        print.json || options.agent !== undefined || options.pageToken !== undefined ? [] : await readQuestions(gateway)
      print.result(answer, () => {
        const more = answer.nextPageToken ? `More with --page-token ${plain(answer.nextPageToken)}\n` : ''
        const asked = questions.length > 0 ? `\n${questionTable(io, questions)}` : ''
        return inboxTable(io, answer.messages, unread === true) + more + asked
      })
    })
}

/** The tasks of the caller that wait for its answer. */
async function readQuestions(gateway: GatewayClient): Promise<TaskSummaryView[]> {
  const lists = askingStates.map((state) => readableTasks(gateway, state, { role: 'originator' }))
  return (await Promise.all(lists)).flat()
}
