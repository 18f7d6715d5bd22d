import type { Command } from 'commander'
import { clientCommand, connect } from '../client-command.ts'
import { bareHandle, pathOf } from '../gateway-client.ts'
import type { Io } from '../io.ts'
import { plain } from '../terminal-text.ts'

export function registerAgentKeyRm(parent: Command, io: Io): void {
  clientCommand(parent, 'rm <handle> <keyId>', 'revoke one key; what was opened with it ends', [
    'rouse agent key rm @donna 01J9ZK4R8Q6W2T5X7Y0B3C1D2E',
    'rouse agent key rm @donna 01J9ZK4R8Q6W2T5X7Y0B3C1D2E --minted   # and the keys that it made',
  ])
    .option('--minted', 'revoke the keys that it made too, and those that they made')
    .option('--keep', 'leave its sessions, subscriptions and push configs: for a key that is only replaced')
    .action(async (handle: string, keyId: string, options: { minted?: boolean; keep?: boolean }, command: Command) => {
      const { gateway, print } = connect(io, command)
      const path = pathOf('/v1/agents', bareHandle(handle), 'keys', keyId)
      const query = { ...(options.minted ? { minted: 'true' } : {}), ...(options.keep ? { keep: 'true' } : {}) }
      const answer = await gateway.call('DELETE', path, { query })
      print.result({ keyId, status: 'revoked', ...answer }, () => `Key ${plain(keyId)} is revoked.\n`)
    })
}
