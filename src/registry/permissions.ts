import { Problem } from '../errors.ts'
import { newUuid } from '../lib/ids.ts'
import type { Reader } from '../storage/database.ts'
import { type RegistryContext, requireAgent } from './agents.ts'
import { type Caller, requireSelf } from './caller.ts'
import {
  deletePermission,
  findGrant,
  findPermission,
  insertPermission,
  listPermissions,
  listProjectPermissions,
  type Permission,
  type PermissionScope,
} from './permission-store.ts'

/**
 * Grants a scope over the caller to another agent. Granting what is granted answers the grant that is there
 * (S1-31: a permission grant is idempotent). The operator grants on behalf of `grantor`.
 */
export function grantPermission(
  context: RegistryContext,
  caller: Caller,
  input: { grantee: string; scope: PermissionScope; grantor?: string },
): Promise<{ permissionId: string; created: boolean }> {
  return context.db.transaction(async (tx) => {
    const grantee = await requireAgent(tx, caller.projectId, input.grantee)
    const grantorId = await grantorOf(input.grantor)
    if (grantorId === grantee.id) {
      throw new Problem('invalid-request', {
        field: 'grantee',
        detail: 'grantee: an agent needs no permission over itself.',
      })
    }
    const { scope } = input
    const existing = await findGrant(tx, grantorId, grantee.id, scope)
    if (existing) return { permissionId: existing.id, created: false }
    const permissionId = newUuid()
    await insertPermission(tx, {
      id: permissionId,
      projectId: caller.projectId,
      grantorId,
      granteeId: grantee.id,
      scope,
      createdAt: tx.now,
    })
    const grantedBy = input.grantor ? (await requireAgent(tx, caller.projectId, input.grantor)).handle : caller.identity
    await context.append(tx, caller.projectId, [
      {
        type: 'permission.granted',
        actor: caller.identity,
        audience: [grantee.id],
        data: { permissionId, scope, grantedBy, grantee: grantee.handle, grantedAt: new Date(tx.now).toISOString() },
      },
    ])
    return { permissionId, created: true }

    async function grantorOf(grantor: string | undefined): Promise<string> {
      if (!grantor) return caller.id
      const agent = await requireAgent(tx, caller.projectId, grantor)
      requireSelf(caller, agent.id, 'grant on its behalf')
      return agent.id
    }
  })
}

/** What the caller granted and was granted; the operator sees the project's. */
export function listVisiblePermissions(db: Reader, caller: Caller): Promise<Permission[]> {
  return caller.kind === 'operator' ? listProjectPermissions(db, caller.projectId) : listPermissions(db, caller.id)
}

/** Takes a grant back: the grantor or the operator. */
export function revokePermission(context: RegistryContext, caller: Caller, permissionId: string): Promise<void> {
  return context.db.transaction(async (tx) => {
    const permission = await findPermission(tx, permissionId)
    const visible =
      permission?.projectId === caller.projectId &&
      (caller.kind === 'operator' || [permission.grantorId, permission.granteeId].includes(caller.id))
    if (!visible) throw new Problem('permission-not-found', { detail: `No permission "${permissionId}".` })
    requireSelf(caller, permission.grantorId, 'revoke this permission')
    await deletePermission(tx, permissionId)
    await context.append(tx, permission.projectId, [
      {
        type: 'permission.revoked',
        actor: caller.identity,
        audience: [permission.granteeId],
        data: { permissionId, scope: permission.scope },
      },
    ])
  })
}
