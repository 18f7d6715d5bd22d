import { int, type NounOf, text } from '../../storage/columns.ts'
import type { Reader, Transaction } from '../../storage/database.ts'
import { RowTable } from '../../storage/row-table.ts'
import { limited, p, sql, statement } from '../../storage/statement.ts'

const fields = {
  id: text,
  projectId: text,
  grantorId: text,
  granteeId: text,
  scope: text,
  /** The key that an agent granted it with: it ends when that key is revoked. '': an operator's, or not known. */
  keyId: text,
  createdAt: int,
}
export type Permission = NounOf<typeof fields>

const permissions = new RowTable('permission', fields)
const { columns } = permissions
const insert = permissions.insert(sql`on conflict (grantor_id, grantee_id, scope) do nothing`)
const existing = statement<
  { grantorId: string; granteeId: string; scope: string },
  Permission
>(sql`select ${columns} from permission
  where grantor_id = ${p('grantorId')} and grantee_id = ${p('granteeId')} and scope = ${p('scope')}`)
const byId = statement<{ id: string }, Permission>(sql`select ${columns} from permission where id = ${p('id')}`)
// `key_id <> ''` is in the index.
const ofKey = statement<{ keyId: string }, Permission>(
  sql`select ${columns} from permission where key_id = ${p('keyId')} and key_id <> '' order by id`,
)
const moveToKey = statement<{ from: string; to: string }>(
  sql`update permission set key_id = ${p('to')} where key_id = ${p('from')} and key_id <> ''`,
)
const remove = statement<{ id: string }>(sql`delete from permission where id = ${p('id')}`)
const removeOf = statement<{ agentId: string }>(
  sql`delete from permission where grantor_id = ${p('agentId')} or grantee_id = ${p('agentId')}`,
)
/** A page of permissions: filters (null: any), the last permission of the page before, and the size. */
export interface PermissionPage {
  readonly scope: string | null
  readonly grantorId: string | null
  readonly granteeId: string | null
  readonly createdAt: number
  readonly id: string
  readonly limit: number
}
const filtered = sql`(cast(${p('scope')} as text) is null or scope = ${p('scope')})
  and (cast(${p('grantorId')} as text) is null or grantor_id = ${p('grantorId')})
  and (cast(${p('granteeId')} as text) is null or grantee_id = ${p('granteeId')})
  and (created_at, id) > (${p('createdAt')}, ${p('id')}) order by created_at, id ${limited}`
const concerning = statement<PermissionPage & { agentId: string }, Permission>(sql`select ${columns} from permission
  where (grantor_id = ${p('agentId')} or grantee_id = ${p('agentId')}) and ${filtered}`)

const between = statement<{ grantorId: string; granteeId: string }, { id: string }>(
  sql`select id from permission where grantor_id = ${p('grantorId')} and grantee_id = ${p('granteeId')} limit 1`,
)
const grantedBy = statement<{ grantorId: string }, { count: number }>(
  sql`select count(*) as "count" from permission where grantor_id = ${p('grantorId')}`,
)
const byProject = statement<PermissionPage & { projectId: string }, Permission>(
  sql`select ${columns} from permission where project_id = ${p('projectId')} and ${filtered}`,
)

/** Returns false when the grantee has the permission. */
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

/** True when one agent has granted another any permission. */
export async function findGrantBetween(db: Reader, grantorId: string, granteeId: string): Promise<boolean> {
  return (await db.get(between, { grantorId, granteeId })) !== undefined
}

/** Counts the permissions that an agent has granted. */
export async function countGrants(db: Reader, grantorId: string): Promise<number> {
  return (await db.get(grantedBy, { grantorId }))?.count ?? 0
}

export function findPermission(db: Reader, id: string): Promise<Permission | undefined> {
  return db.get(byId, { id })
}

/** Returns the permissions that an agent granted with a key: as many as an agent may grant at most. */
export function listGrantsOfKey(db: Reader, keyId: string): Promise<Permission[]> {
  return db.all(ofKey, { keyId })
}

/** Moves permissions from the key that they were granted with to another. */
export async function moveGrants(tx: Transaction, from: string, to: string): Promise<void> {
  await tx.run(moveToKey, { from, to })
}

export function listPermissions(db: Reader, agentId: string, page: PermissionPage): Promise<Permission[]> {
  return db.all(concerning, { ...page, agentId })
}

export function listProjectPermissions(db: Reader, projectId: string, page: PermissionPage): Promise<Permission[]> {
  return db.all(byProject, { ...page, projectId })
}

/** Returns false when the permission does not exist any more. */
export async function deletePermission(tx: Transaction, id: string): Promise<boolean> {
  return (await tx.run(remove, { id })) > 0
}

export async function deletePermissionsOf(tx: Transaction, agentId: string): Promise<void> {
  await tx.run(removeOf, { agentId })
}
