import type { Command } from 'commander'
import { Refused } from '../../client/failure.ts'
import type { GatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import { plain } from '../../client/terminal-text.ts'
import { ownIds } from '../ids/own-ids.ts'
import { threadText } from '../output/mail-view.ts'
import { clientCommand, connect } from '../run/client-command.ts'

export function registerThread(parent: Command, io: Io): void {
  clientCommand(parent, 'thread <thread>', 'read a conversation, with the status of each message', [
    'rouse thread MESSAGE:019a…      # the id of a thread, or of a message in it',
  ])
    .option('--page-token <token>', 'the next page: the token at the end of the previous page')
    .action(async (given: string, { pageToken }: { pageToken?: string }, command: Command) => {
      const { gateway, print } = connect(io, command)
      const id = await threadOf(gateway, await ownIds(gateway).thread(given))
      const answer = await gateway.call('GET /v1/threads/:id', { params: { id }, query: { pageToken } })
      print.result(answer, () => {
        const more = answer.nextPageToken ? `\nMore with --page-token ${plain(answer.nextPageToken)}\n` : ''
        return threadText(io, answer.messages) + more
      })
    })
}

/** The thread of a message. An id that is no message that the caller may read is taken as that of a thread. */
async function threadOf(gateway: GatewayClient, id: string): Promise<string> {
  try {
    return (await gateway.call('GET /v1/messages/:id', { params: { id } })).threadId
  } catch (error) {
    if (error instanceof Refused && error.problem.status === 404) return id
    throw error
  }
}
