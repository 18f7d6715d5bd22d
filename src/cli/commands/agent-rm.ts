import type { Command } from 'commander'
import { clientCommand, connect } from '../client-command.ts'
import { bareHandle, pathOf } from '../gateway-client.ts'
import type { Io } from '../io.ts'

export function registerAgentRm(parent: Command, io: Io): void {
  clientCommand(parent, 'rm <handle>', 'remove an agent, its keys and its subscriptions', [
    'rouse agent rm @donna',
  ]).action(async (handle: string, _options: unknown, command: Command) => {
    const { gateway, print } = connect(io, command)
    const answer = await gateway.call('DELETE', pathOf('/v1/agents', bareHandle(handle)))
    const removed = { handle: `@${bareHandle(handle)}`, status: 'removed', ...answer }
    print.result(removed, () => `${removed.handle} is removed.\n`)
  })
}
