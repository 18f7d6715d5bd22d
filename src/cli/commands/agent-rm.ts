import type { Command } from 'commander'
import { clientCommand, connect } from '../client-command.ts'
import { bareHandle, pathOf } from '../gateway-client.ts'
import type { Io } from '../io.ts'

export function registerAgentRm(parent: Command, io: Io): void {
  clientCommand(parent, 'rm <handle>', 'remove an agent, its keys and its subscriptions', [
    'rouse agent rm @donna',
    'rouse agent rm @donna --free-names   # whoever is given them next has its mail',
  ])
    .option('--free-names', 'give its names up too; without it they stay reserved for it')
    .action(async (handle: string, options: { freeNames?: boolean }, command: Command) => {
      const { gateway, print } = connect(io, command)
      const answer = await gateway.call('DELETE', pathOf('/v1/agents', bareHandle(handle)), {
        query: options.freeNames ? { freeNames: 'true' } : {},
      })
      const removed = { handle: `@${bareHandle(handle)}`, status: 'removed', ...answer }
      print.result(removed, () => `${removed.handle} is removed.\n`)
    })
}
