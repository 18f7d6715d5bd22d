import { Problem } from '../errors.ts'
import { newUuid } from '../lib/ids.ts'
import type { NewEvent } from '../log/event.ts'
import type { Reader } from '../storage/database.ts'
import { requireAddressed } from './addresses.ts'
import { type Agent, identityIn } from './agent.ts'
import { findAgentById } from './agent-store.ts'
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
 * Grants a scope over the caller to another agent, of another project too. Granting what is granted answers the grant that is
 * there (S1-31: a permission grant is idempotent). The operator grants on behalf of `grantor`.
 */
export function grantPermission(
  context: RegistryContext,
  caller: Caller,
  input: { grantee: string; scope: PermissionScope; grantor?: string },
): Promise<{ permissionId: string; created: boolean }> {
  return context.db.transaction(async (tx) => {
    const grantee = await requireAddressed(tx, caller, input.grantee, 'grantee')
    const grantor = await requireGrantor(tx, caller, input.grantor)
    requireGrantable(grantor.id, caller, grantee, input.scope)
    const permissionId = newUuid()
    const created = await insertPermission(tx, {
      id: permissionId,
      projectId: caller.projectId,
      grantorId: grantor.id,
      granteeId: grantee.id,
      scope: input.scope,
      createdAt: tx.now,
    })
    if (!created) {
      const existing = await findGrant(tx, grantor.id, grantee.id, input.scope)
      return { permissionId: existing?.id ?? permissionId, created }
    }
    const data = {
      permissionId,
      scope: input.scope,
      grantedBy:
        grantor.id === 'operator'
          ? grantor.handle
          : identityIn(grantee.projectId, { ...grantor, projectId: caller.projectId }),
      grantee: grantee.handle,
      grantedAt: new Date(tx.now).toISOString(),
    }
    await tell(context, tx, caller, grantee, { type: 'permission.granted', data })
    return { permissionId, created }
  })
}

/** What a list of permissions can be narrowed to. */
export interface PermissionFilter {
  readonly scope?: PermissionScope | undefined
  readonly grantorId?: string | undefined
  readonly granteeId?: string | undefined
}

/** What the caller granted and was granted; the operator sees the project's. */
export async function listVisiblePermissions(
  db: Reader,
  caller: Caller,
  { scope, grantorId, granteeId }: PermissionFilter = {},
): Promise<Permission[]> {
  const all =
    caller.kind === 'operator'
      ? await listProjectPermissions(db, caller.projectId)
      : await listPermissions(db, caller.id)
  return all.filter(
    (permission) =>
      permission.scope === (scope ?? permission.scope) &&
      permission.grantorId === (grantorId ?? permission.grantorId) &&
      permission.granteeId === (granteeId ?? permission.granteeId),
  )
}

/** Takes a grant back: the grantor or the operator. */
export function revokePermission(context: RegistryContext, caller: Caller, permissionId: string): Promise<void> {
  return context.db.transaction(async (tx) => {
    const permission = await findPermission(tx, permissionId)
    const visible =
      permission &&
      (caller.kind === 'operator'
        ? permission.projectId === caller.projectId
        : [permission.grantorId, permission.granteeId].includes(caller.id))
    if (!visible) throw noPermission(permissionId)
    requireSelf(caller, permission.grantorId, 'revoke this permission')
    if (!(await deletePermission(tx, permissionId))) throw noPermission(permissionId)
    const grantee = await findAgentById(tx, permission.granteeId)
    const data = { permissionId, scope: permission.scope }
    await tell(context, tx, caller, grantee, { type: 'permission.revoked', data })
  })
}

function noPermission(permissionId: string): Problem {
  return new Problem('permission-not-found', { detail: `No permission "${permissionId}".` })
}

async function requireGrantor(
  db: Reader,
  caller: Caller,
  grantor: string | undefined,
): Promise<{ id: string; handle: string }> {
  if (!grantor) return { id: caller.id, handle: caller.identity }
  const agent = await requireAgent(db, caller.projectId, grantor)
  requireSelf(caller, agent.id, 'grant on its behalf')
  return agent
}

function requireGrantable(grantorId: string, caller: Caller, grantee: Agent, scope: PermissionScope): void {
  if (grantorId === grantee.id) {
    throw new Problem('invalid-request', {
      field: 'grantee',
      detail: 'grantee: an agent needs no permission over itself.',
    })
  }
  if (scope !== 'CAN_MANAGE_SUBSCRIPTIONS_OF' || grantee.projectId === caller.projectId) return
  throw new Problem('invalid-request', {
    field: 'scope',
    detail: `scope: subscriptions are managed within a project, and ${grantee.handle} belongs to ${grantee.projectId}.`,
  })
}

/** Tells the grantee where it listens, in its own project's log; a grantor of another project has its own record of it. */
async function tell(
  context: RegistryContext,
  tx: Parameters<RegistryContext['append']>[0],
  caller: Caller,
  grantee: Agent | undefined,
  event: Pick<NewEvent, 'type' | 'data'>,
): Promise<void> {
  const told = { ...event, actor: caller.identity }
  const there = grantee?.projectId ?? caller.projectId
  // Two logs are locked in one order, whoever grants whom.
  for (const projectId of [...new Set([there, caller.projectId])].sort()) {
    const audience = grantee && projectId === there ? [grantee.id] : []
    await context.append(tx, projectId, [{ ...told, audience }])
  }
}
