import type { Reader, Transaction } from '../storage/database.ts'
import { p, sql, statement } from '../storage/statement.ts'

export const permissionScopes = [
  'CAN_REPLY_TO',
  'CAN_READ_INBOX_OF',
  'CAN_READ_MEMORIES_OF',
  'CAN_MANAGE_SUBSCRIPTIONS_OF',
] as const
/** What a grantor lets a grantee do. Source: S1-26, S1-45. */
export type PermissionScope = (typeof permissionScopes)[number]

export interface Permission {
  readonly id: string
  readonly projectId: string
  readonly grantorId: string
  readonly granteeId: string
  readonly scope: string
  readonly createdAt: number
}

const columns = sql.raw(
  'id, project_id as "projectId", grantor_id as "grantorId", grantee_id as "granteeId", scope, created_at as "createdAt"',
)
const insert =
  statement<Permission>(sql`insert into permission (id, project_id, grantor_id, grantee_id, scope, created_at)
  values (${p('id')}, ${p('projectId')}, ${p('grantorId')}, ${p('granteeId')}, ${p('scope')}, ${p('createdAt')})`)
const existing = statement<
  { grantorId: string; granteeId: string; scope: string },
  Permission
>(sql`select ${columns} from permission
  where grantor_id = ${p('grantorId')} and grantee_id = ${p('granteeId')} and scope = ${p('scope')}`)
const byId = statement<{ id: string }, Permission>(sql`select ${columns} from permission where id = ${p('id')}`)
const remove = statement<{ id: string }>(sql`delete from permission where id = ${p('id')}`)
const removeOf = statement<{ agentId: string }>(
  sql`delete from permission where grantor_id = ${p('agentId')} or grantee_id = ${p('agentId')}`,
)
const concerning = statement<{ agentId: string }, Permission>(sql`select ${columns} from permission
  where grantor_id = ${p('agentId')} or grantee_id = ${p('agentId')} order by created_at, id`)

const byProject = statement<{ projectId: string }, Permission>(
  sql`select ${columns} from permission where project_id = ${p('projectId')} order by created_at, id`,
)

export async function insertPermission(tx: Transaction, permission: Permission): Promise<void> {
  await tx.run(insert, permission)
}

export function findGrant(
  db: Reader,
  grantorId: string,
  granteeId: string,
  scope: string,
): Promise<Permission | undefined> {
  return db.get(existing, { grantorId, granteeId, scope })
}

export function findPermission(db: Reader, id: string): Promise<Permission | undefined> {
  return db.get(byId, { id })
}

export function listPermissions(db: Reader, agentId: string): Promise<Permission[]> {
  return db.all(concerning, { agentId })
}

export function listProjectPermissions(db: Reader, projectId: string): Promise<Permission[]> {
  return db.all(byProject, { projectId })
}

export async function deletePermission(tx: Transaction, id: string): Promise<void> {
  await tx.run(remove, { id })
}

export async function deletePermissionsOf(tx: Transaction, agentId: string): Promise<void> {
  await tx.run(removeOf, { agentId })
}
