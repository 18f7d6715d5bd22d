import type { Command } from 'commander'
import { clientCommand, connect } from '../client-command.ts'
import { bareHandle, pathOf } from '../gateway-client.ts'
import type { Io } from '../io.ts'
import { paint, plain } from '../terminal-text.ts'

export function registerAgentKeyAdd(parent: Command, io: Io): void {
  clientCommand(parent, 'add <handle>', 'make another key for an agent; prints it once', [
    'rouse agent key add @donna --label laptop',
  ])
    .option('--label <text>', 'what the key is for')
    .action(async (handle: string, options: { label?: string }, command: Command) => {
      const { gateway, print } = connect(io, command)
      const answer = await gateway.call<{ keyId?: string; apiKey?: string }>(
        'POST',
        pathOf('/v1/agents', bareHandle(handle), 'keys'),
        { body: { label: options.label } },
      )
      print.result(
        answer,
        () =>
          `key: ${paint(io, 'bold', plain(answer.apiKey))}\nid:  ${plain(answer.keyId)}\n` +
          'Keep this key: it is shown only now. The earlier keys go on working until they are revoked.\n',
      )
    })
}
