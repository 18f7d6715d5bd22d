import type { Command } from 'commander'
import { bareHandle } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import { paint, plain } from '../../client/terminal-text.ts'
import type { AgentScope } from '../../words/callers.ts'
import { ownIds } from '../ids/own-ids.ts'
import { collectScopes, duration } from '../options/key-options.ts'
import { saveKeyOption, savingKey } from '../options/save-key.ts'
import { keyTable } from '../output/key-view.ts'
import { clientCommand, connect } from '../run/client-command.ts'

interface AddOptions {
  saveKey?: string
  label?: string
  scope?: AgentScope[]
  expiresIn?: number
}

interface RemoveOptions {
  minted?: boolean
  keep?: boolean
}

/** `rouse agent key …` */
export function registerAgentKey(agent: Command, io: Io): void {
  const key = agent.command('key').description("add, list and revoke an agent's keys")
  registerAdd(key, io)
  registerList(key, io)
  registerRemove(key, io)
}

function registerAdd(parent: Command, io: Io): void {
  clientCommand(parent, 'add <handle>', 'make another key for an agent; prints it once', [
    'rouse agent key add @donna --label laptop --save-key donna-laptop.key',
    'rouse agent key add @donna --scope read,send --expires-in 90d',
  ])
    .option('--label <text>', 'what the key is for')
    .option(...saveKeyOption)
    .option('--scope <list>', 'what it may be used for: read, send, work, manage, mint', collectScopes)
    .option('--expires-in <time>', 'when it expires, counted from now, for example 90d', duration)
    .action(async (name: string, options: AddOptions, command: Command) => {
      const { gateway, print } = connect(io, command)
      const params = { handle: bareHandle(name) }
      const body = { label: options.label, scopes: options.scope, expiresInSeconds: options.expiresIn }
      const answer = await savingKey(options.saveKey, () =>
        gateway.call('POST /v1/agents/:handle/keys', { params, body }),
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
          'Earlier keys stay valid until they are revoked.\n',
      )
    })
}

function registerList(parent: Command, io: Io): void {
  clientCommand(parent, 'list <handle>', "list the ids and scopes of an agent's keys", [
    'rouse agent key list @donna',
  ]).action(async (name: string, _options: unknown, command: Command) => {
    const { gateway, print } = connect(io, command)
    const answer = await gateway.call('GET /v1/agents/:handle/keys', { params: { handle: bareHandle(name) } })
    print.result(answer, () => keyTable(io, answer.keys))
  })
}

function registerRemove(parent: Command, io: Io): void {
  clientCommand(parent, 'rm <handle> <keyId>', 'revoke one key, and end its sessions, subscriptions and streams', [
    'rouse agent key rm @donna 01J9ZK4R8Q6W2T5X7Y0B3C1D2E',
    'rouse agent key rm @donna 01J9ZK4R8Q6W2T5X7Y0B3C1D2E --minted   # and the keys that it made',
  ])
    .option('--minted', 'also revoke the keys that it made, and those that they made')
    .option('--keep', 'keep its sessions, subscriptions and push configs: for a key that is only replaced')
    .action(async (name: string, given: string, { minted, keep }: RemoveOptions, command: Command) => {
      const { gateway, print } = connect(io, command)
      const keyId = await ownIds(gateway).key(name, given)
      const params = { handle: bareHandle(name), keyId }
      const query = { minted: minted ? 'true' : undefined, keep: keep ? 'true' : undefined }
      await gateway.call('DELETE /v1/agents/:handle/keys/:keyId', { params, query })
      print.result({ keyId, status: 'revoked' }, () => `Key ${plain(keyId)} is revoked.\n`)
    })
}
