import type { Command } from 'commander'
import type { Scope } from '../../registry/callers/scopes.ts'
import { clientCommand, connect } from '../client-command.ts'
import { bareHandle, pathOf } from '../gateway-client.ts'
import type { Io } from '../io.ts'
import { collectScopes, duration } from '../key-options.ts'
import { saveKeyOption, savingKey } from '../save-key.ts'
import { paint, plain } from '../terminal-text.ts'

interface Options {
  saveKey?: string
  label?: string
  scope?: Scope[]
  expiresIn?: number
}

export function registerAgentKeyAdd(parent: Command, io: Io): void {
  clientCommand(parent, 'add <handle>', 'make another key for an agent; prints it once', [
    'rouse agent key add @donna --label laptop --save-key donna-laptop.key',
    'rouse agent key add @donna --scope read,send --expires-in 90d',
  ])
    .option('--label <text>', 'what the key is for')
    .option(...saveKeyOption)
    .option('--scope <list>', 'what it may be used for: read, send, work, manage, mint', collectScopes)
    .option('--expires-in <time>', 'how long it lives, for example 90d', duration)
    .action(async (handle: string, options: Options, command: Command) => {
      const { gateway, print } = connect(io, command)
      const path = pathOf('/v1/agents', bareHandle(handle), 'keys')
      const body = { label: options.label, scopes: options.scope, expiresInSeconds: options.expiresIn }
      const answer = await savingKey(options.saveKey, () =>
        gateway.call<{ keyId?: string; apiKey?: string; expiresAt?: string | null }>('POST', path, { body }),
      )
      print.result(
        answer,
        () =>
          (answer.keyFile === undefined
            ? `key: ${paint(io, 'bold', plain(answer.apiKey))}\n`
            : `key: in ${plain(answer.keyFile)}\n`) +
          `id:  ${plain(answer.keyId)}\n` +
          (answer.expiresAt ? `It expires at ${plain(answer.expiresAt)}.\n` : '') +
          (answer.keyFile === undefined ? 'Keep this key: it is shown only now. ' : '') +
          'Earlier keys go on working until they are revoked.\n',
      )
    })
}
