import type { Command } from 'commander'
import type { Io } from '../../client/io.ts'
import { needsText } from '../output/needs-view.ts'
import { clientCommand, connect } from '../run/client-command.ts'

interface NeedsOptions {
  readonly all?: boolean
  readonly agent?: string
  readonly pageToken?: string
}

/** `rouse needs` */
export function registerNeeds(program: Command, io: Io): void {
  clientCommand(
    program,
    'needs',
    'list what waits for a person, the most urgent first: questions, approvals, failing wakes, limits',
    [
      'rouse needs',
      'rouse needs --all',
      'rouse needs --agent @donna          # all of one agent, a line for each',
      'rouse needs --json',
    ],
  )
    .option('--agent <handle>', 'all that waits of this agent')
    .option('--page-token <token>', 'the next page: the token at the end of the previous page')
    .option('--all', 'also what was put off with rouse snooze')
    .action(async ({ all = false, agent, pageToken }: NeedsOptions, command: Command) => {
      const { gateway, print } = connect(io, command)
      const found = await gateway.call('GET /v1/needs', { query: { agent, pageToken } })
      print.result(found, () => needsText(io, found, { all, each: agent !== undefined }))
    })
}
