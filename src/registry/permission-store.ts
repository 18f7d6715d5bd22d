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
  values (${p('id')}, ${p('projectId')}, ${p('grantorId')}, ${p('granteeId')}, ${p('scope')}, ${p('createdAt')})
  on conflict (grantor_id, grantee_id, scope) do nothing`)
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

const between = statement<{ grantorId: string; granteeId: string }, { id: string }>(
  sql`select id from permission where grantor_id = ${p('grantorId')} and grantee_id = ${p('granteeId')} limit 1`,
)
const grantors = statement<{ granteeId: string; scope: string }, { grantorId: string }>(
  sql`select grantor_id as "grantorId" from permission where grantee_id = ${p('granteeId')} and scope = ${p('scope')}`,
)
const byProject = statement<{ projectId: string }, Permission>(
  sql`select ${columns} from permission where project_id = ${p('projectId')} order by created_at, id`,
)

/** False: it was granted before. */
export async function insertPermission(tx: Transaction, permission: Permission): Promise<boolean> {
  return (await tx.run(insert, permission)) > 0
}

export function findGrant(
  db: Reader,
  grantorId: string,
  granteeId: string,
  scope: string,
): Promise<Permission | undefined> {
  return db.get(existing, { grantorId, granteeId, scope })
}

/** Whether one granted the other anything at all. */
export async function findGrantBetween(db: Reader, grantorId: string, granteeId: string): Promise<boolean> {
  return (await db.get(between, { grantorId, granteeId })) !== undefined
}

/** Ids of those who granted a scope to somebody. */
export async function listGrantors(db: Reader, granteeId: string, scope: PermissionScope): Promise<string[]> {
  return (await db.all(grantors, { granteeId, scope })).map(({ grantorId }) => grantorId)
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

/** False: somebody else took it back first. */
export async function deletePermission(tx: Transaction, id: string): Promise<boolean> {
  return (await tx.run(remove, { id })) > 0
}

export async function deletePermissionsOf(tx: Transaction, agentId: string): Promise<void> {
  await tx.run(removeOf, { agentId })
}
