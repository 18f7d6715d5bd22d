import type { Command } from 'commander'
import type { Io } from '../../client/io.ts'
import { fields } from '../output/table.ts'
import { whenLong } from '../output/when.ts'
import { clientCommand, connect } from '../run/client-command.ts'

export function registerWhoami(parent: Command, io: Io): void {
  clientCommand(parent, 'whoami', 'show whose key commands use, where it comes from, and what it may do', [
    'rouse whoami',
    'rouse whoami --profile work',
  ]).action(async (_options: unknown, command: Command) => {
    const { gateway, print } = connect(io, command)
    const answer = await gateway.call('GET /v1/whoami')
    const from = (await gateway.credentials()).source
    print.result({ ...answer, gateway: gateway.url, keySource: from ?? null }, () =>
      fields({
        identity: answer.identity,
        name: answer.name,
        gateway: gateway.url,
        project: answer.project,
        role: answer.role,
        projects: answer.projects?.join(', '),
        scopes: answer.scopes.join(', '),
        'key id': answer.keyId,
        'key from': from,
        expires: whenLong(io, answer.expiresAt),
      }),
    )
  })
}
