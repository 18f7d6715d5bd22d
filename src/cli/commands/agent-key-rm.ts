import type { Command } from 'commander'
import { clientCommand, connect } from '../client-command.ts'
import { bareHandle, pathOf } from '../gateway-client.ts'
import type { Io } from '../io.ts'
import { plain } from '../terminal-text.ts'

export function registerAgentKeyRm(parent: Command, io: Io): void {
  clientCommand(parent, 'rm <handle> <keyId>', 'revoke one key', ['rouse agent key rm @donna key_1f6c']).action(
    async (handle: string, keyId: string, _options: unknown, command: Command) => {
      const { gateway, print } = connect(io, command)
      const answer = await gateway.call('DELETE', pathOf('/v1/agents', bareHandle(handle), 'keys', keyId))
      print.result({ keyId, status: 'revoked', ...answer }, () => `Key ${plain(keyId)} is revoked.\n`)
    },
  )
}
