import type { Command } from 'commander'
import { clientCommand, connect } from '../client-command.ts'
import { pathOf } from '../gateway-client.ts'
import type { Io } from '../io.ts'
import { plain } from '../terminal-text.ts'

export function registerSubRm(parent: Command, io: Io): void {
  clientCommand(parent, 'rm <id>', 'remove a subscription', ['rouse sub rm WAKE_SUB:…']).action(
    async (id: string, _options: unknown, command: Command) => {
      const { gateway, print } = connect(io, command)
      const answer = await gateway.call('DELETE', pathOf('/v1/wake-subscriptions', id))
      print.result({ subscriptionId: id, status: 'removed', ...answer }, () => `${plain(id)} is removed.\n`)
    },
  )
}
