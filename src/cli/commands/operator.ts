import type { Command } from 'commander'
import type { Io } from '../../client/io.ts'
import { paint, plain } from '../../client/terminal-text.ts'
import type { OperatorRole } from '../../words/callers.ts'
import { ownIds } from '../ids/own-ids.ts'
import { duration, operatorRole } from '../options/key-options.ts'
import { collect } from '../options/option-values.ts'
import { saveKeyOption, savingKey } from '../options/save-key.ts'
import { operatorKeyTable } from '../output/key-view.ts'
import { clientCommand, connect } from '../run/client-command.ts'

interface AddOptions {
  role: OperatorRole
  for?: string[]
  label?: string
  approve?: boolean
  saveKey?: string
  expiresIn?: number
}

/** `rouse operator key …`: keys of more operators, beside the admin key. */
export function registerOperator(program: Command, io: Io): void {
  const operator = program.command('operator').description('the operators of the gateway')
  const key = operator.command('key').description('make, list and revoke keys of operators')
  clientCommand(key, 'add', 'make a key for another operator; prints it once', [
    'rouse operator key add --role admin --label "Ines" --expires-in 90d',
    'rouse operator key add --role manager --for web --label "the web team"',
    'rouse operator key add --role manager --label anna --approve',
    'rouse operator key add --role viewer',
  ])
    .requiredOption(
      '--role <role>',
      'admin: everything; manager: everything in its projects; viewer: read only',
      operatorRole,
    )
    .option('--for <project>', 'a project of the operator; repeatable (default: every project)', collect)
    .option('--label <text>', 'the person who uses the key: what they do is on record under this name')
    .option('--approve', 'it may answer what harnesses ask: only for a person, never for a script or a model')
    .option(...saveKeyOption)
    .option('--expires-in <time>', 'when it expires, counted from now, for example 90d', duration)
    .action(async (options: AddOptions, command: Command) => {
      const { gateway, print } = connect(io, command)
      const { role, label, approve, for: projects, expiresIn: expiresInSeconds } = options
      const body = { role, label, approve, projects, expiresInSeconds }
      const answer = await savingKey(options.saveKey, () => gateway.call('POST /v1/operator-keys', { body }))
      print.result(
        answer,
        () =>
          (answer.keyFile === undefined
            ? `key: ${paint(io, 'bold', plain(answer.operatorKey))}\nid:  ${plain(answer.keyId)}\nKeep this key: it is shown only now. `
            : `key: in ${plain(answer.keyFile)}\nid:  ${plain(answer.keyId)}\n`) +
          'It goes where the admin key goes: ROUSE_KEY, or ROUSE_KEY_FILE.\n',
      )
    })
  clientCommand(key, 'list', 'list the operator keys', ['rouse operator key list']).action(
    async (_options: unknown, command: Command) => {
      const { gateway, print } = connect(io, command)
      const answer = await gateway.call('GET /v1/operator-keys')
      print.result(answer, () => operatorKeyTable(io, answer.keys))
    },
  )
  clientCommand(key, 'rm <keyId>', 'revoke an operator key', ['rouse operator key rm 01J9ZK4R8Q6W2T5X7Y0B3C1D2E'])
    .option('--minted', 'also revoke the keys that it made, of operators and agents')
    .action(async (given: string, options: { minted?: boolean }, command: Command) => {
      const { gateway, print } = connect(io, command)
      const keyId = await ownIds(gateway).operatorKey(given)
      const query = { minted: options.minted ? 'true' : undefined }
      await gateway.call('DELETE /v1/operator-keys/:keyId', { params: { keyId }, query })
      print.result({ keyId, status: 'revoked' }, () => `Key ${plain(keyId)} is revoked.\n`)
    })
}
