import { Argument, type Command, type CommandOptions } from 'commander'
import type { Io } from '../../client/io.ts'
import { plain } from '../../client/terminal-text.ts'
import { type PermissionScope, permissionScopes } from '../../words/callers.ts'
import { ownIds } from '../ids/own-ids.ts'
import { table } from '../output/table.ts'
import { when } from '../output/when.ts'
import { clientCommand, connect } from '../run/client-command.ts'
import { readPages } from '../run/read-pages.ts'

/** `rouse permission …`: what agents allow each other. */
export function registerPermission(program: Command, io: Io): void {
  const permission = program
    .command('permission')
    .description('grant, list and revoke what agents may do to each other')
  const add = [
    'rouse permission add @mike CAN_REPLY_TO',
    'rouse permission add web:@mike CAN_REPLY_TO --grantor @donna   # with the admin key, for donna',
  ]
  registerAdd(permission, io, add)
  registerList(permission, io)
  registerRemove(permission, io)
}

/** `rouse grant …`: the same command under the name that most users look for. */
export function registerGrant(program: Command, io: Io): void {
  const grant = program.command('grant').description('the same as permission: rouse grant <grantee> <scope>')
  const add = ['rouse grant @mike CAN_REPLY_TO', 'rouse grant add @mike CAN_REPLY_TO', 'rouse grant rm 019a…']
  registerAdd(grant, io, add, { isDefault: true })
  registerList(grant, io)
  registerRemove(grant, io)
}

function registerAdd(parent: Command, io: Io, examples: readonly string[], options: CommandOptions = {}): void {
  const what = 'grant another agent a permission over the agent of the key'
  clientCommand(parent, 'add <grantee>', what, examples, options)
    .addArgument(new Argument('<scope>', 'what it may do').choices(permissionScopes))
    .option('--grantor <agent>', 'the agent that grants; needs the admin key')
    .action(async (grantee: string, scope: PermissionScope, { grantor }: { grantor?: string }, command: Command) => {
      const { gateway, print } = connect(io, command)
      const body = { grantee, scope, grantor }
      const { permissionId } = await gateway.call('POST /v1/permissions', { body })
      const remove = `rouse ${parent.name()} rm ${plain(permissionId)}`
      print.result({ permissionId }, () => `Granted. Revoke it with: ${remove}\n`)
    })
}

function registerList(parent: Command, io: Io): void {
  clientCommand(parent, 'list', 'list what was granted by and to the agent', [`rouse ${parent.name()} list`]).action(
    async (_options: unknown, command: Command) => {
      const { gateway, print } = connect(io, command)
      const permissions = await readPages(
        (pageToken) => gateway.call('GET /v1/permissions', { query: { pageToken } }),
        (page) => page.permissions,
      )
      const rows = permissions.map((permission) => [
        permission.permissionId,
        permission.grantee,
        permission.scope,
        permission.grantor,
        when(io, permission.grantedAt),
      ])
      const headings = ['PERMISSION', 'GRANTEE', 'SCOPE', 'GRANTOR', 'SINCE']
      print.result({ permissions }, () => table(io, headings, rows, 'Nothing is granted.'))
    },
  )
}

function registerRemove(parent: Command, io: Io): void {
  clientCommand(parent, 'rm <permission>', 'revoke a permission', [`rouse ${parent.name()} rm 019a…`]).action(
    async (given: string, _options: unknown, command: Command) => {
      const { gateway, print } = connect(io, command)
      const id = await ownIds(gateway).permission(given)
      await gateway.call('DELETE /v1/permissions/:id', { params: { id } })
      print.result({ permissionId: id, revoked: true }, () => `${plain(id)} is revoked.\n`)
    },
  )
}
