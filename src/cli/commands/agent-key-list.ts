import type { Command } from 'commander'
import { clientCommand, connect } from '../client-command.ts'
import { bareHandle, pathOf } from '../gateway-client.ts'
import type { Io } from '../io.ts'
import { type KeyView, keyTable } from '../views/key-view.ts'

export function registerAgentKeyList(parent: Command, io: Io): void {
  clientCommand(parent, 'list <handle>', "list an agent's keys, without the keys themselves", [
    'rouse agent key list @donna',
  ]).action(async (handle: string, _options: unknown, command: Command) => {
    const { gateway, print } = connect(io, command)
    const path = pathOf('/v1/agents', bareHandle(handle), 'keys')
    const answer = await gateway.call<{ keys?: KeyView[] }>('GET', path)
    print.result(answer, () => keyTable(io, answer.keys ?? []))
  })
}
