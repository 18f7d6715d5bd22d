import { Problem } from '../errors.ts'
import { newUuid } from '../lib/ids.ts'
import type { Addressee } from '../registry/agents/addressee-store.ts'
import { requireAddressed } from '../registry/agents/addresses.ts'
import { identityIn } from '../registry/agents/agent.ts'
import { lockAgent } from '../registry/agents/agent-store.ts'
import { type RegistryContext, requireAgent } from '../registry/agents/agents.ts'
import { policiesOf } from '../registry/agents/party.ts'
import { type Caller, operates, requireSelf } from '../registry/callers/caller.ts'
import { requireRoom } from '../registry/callers/caller-limits.ts'
import { requireLiveKey } from '../registry/callers/live-key.ts'
import {
  countGrants,
  findGrant,
  findPermission,
  insertPermission,
  listPermissions,
  listProjectPermissions,
  type Permission,
  type PermissionPage,
} from '../registry/permissions/permission-store.ts'
import type { Reader } from '../storage/database.ts'
import type { PermissionScope } from '../words/callers.ts'
import type { IdentityContext } from './context.ts'
import { endGrant, projectsTold } from './end-grant.ts'
import { EventsByProject } from './events-by-project.ts'

/**
 * Grants another agent, also of another project, a scope over the caller. A repeated grant returns the existing permission
 * (S1-31: a grant is idempotent). The operator grants on behalf of `grantor`.
 */
export function grantPermission(
  context: RegistryContext,
  caller: Caller,
  input: { grantee: string; scope: PermissionScope; grantor?: string },
): Promise<{ permissionId: string; created: boolean }> {
  return context.db.transaction(async (tx) => {
    await requireLiveKey(tx, caller)
    const grantee = await requireAddressed(tx, caller, input.grantee, 'grantee')
    const grantor = await requireGrantor(tx, caller, input.grantor)
    requireGrantable(grantor.id, caller, grantee, input.scope)
    // Of two concurrent grants of one agent, the second waits, so that it counts the first.
    if (caller.kind === 'agent') await lockAgent(tx, grantor.id)
    const granted = await countGrants(tx, grantor.id)
    const known = await findGrant(tx, grantor.id, grantee.id, input.scope)
    if (known) return { permissionId: known.id, created: false }
    requireRoom(caller, 'owned', granted, 'Revoke permissions that are not used.')
    const permissionId = newUuid()
    const created = await insertPermission(tx, {
      id: permissionId,
      projectId: caller.projectId,
      grantorId: grantor.id,
      granteeId: grantee.id,
      scope: input.scope,
      keyId: caller.kind === 'agent' ? caller.keyId : '',
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
    const events = new EventsByProject()
    const by = { operates: (projectId: string) => operates(caller, projectId) }
    const told = { projectId: caller.projectId, grantorId: grantor.id }
    for (const { id, audience } of await projectsTold(tx, told, grantee, by)) {
      const routing = policiesOf(audience.map((id) => ({ id, wakePolicy: grantee.defaultWakePolicy })))
      const shown = Object.keys(routing).length > 0 ? { ...data, routing } : data
      const event = {
        type: 'permission.granted',
        actor: caller.identity,
        actorId: caller.id,
        audience,
        data: shown,
      } as const
      events.add(id, event)
    }
    await events.append(context, tx)
    return { permissionId, created }
  })
}

/** Returns the permissions that the caller granted or was granted; for the operator, all of its project. */
export function listVisiblePermissions(db: Reader, caller: Caller, page: PermissionPage): Promise<Permission[]> {
  return caller.kind === 'operator'
    ? listProjectPermissions(db, caller.projectId, page)
    : listPermissions(db, caller.id, page)
}

/**
 * Revokes a permission. The grantor and the operator may do that. When the permission to manage subscriptions ends, the
 * subscriptions whose target the grantee set last are paused (D21). Errors: `permission-not-found`, `forbidden`.
 */
export function revokePermission(context: IdentityContext, caller: Caller, permissionId: string): Promise<void> {
  return context.db.transaction(async (tx) => {
    const permission = await findPermission(tx, permissionId)
    const visible =
      permission &&
      (caller.kind === 'operator'
        ? permission.projectId === caller.projectId
        : [permission.grantorId, permission.granteeId].includes(caller.id))
    if (!visible) throw noPermission(permissionId)
    requireSelf(caller, permission.grantorId, 'revoke this permission')
    const events = new EventsByProject()
    const by = {
      actor: caller.identity,
      actorId: caller.id,
      operates: (projectId: string) => operates(caller, projectId),
    }
    if (!(await endGrant(context, tx, permission, by, events))) throw noPermission(permissionId)
    await events.append(context, tx)
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

function requireGrantable(grantorId: string, caller: Caller, grantee: Addressee, scope: PermissionScope): void {
  if (grantorId === grantee.id) {
    throw new Problem('invalid-request', {
      field: 'grantee',
      detail: 'grantee: an agent needs no permission over itself.',
    })
  }
  if (scope !== 'CAN_MANAGE_SUBSCRIPTIONS_OF' || grantee.projectId === caller.projectId) return
  throw new Problem('invalid-request', {
    field: 'scope',
    detail: `scope: only an agent of the same project can manage subscriptions, and ${grantee.handle} belongs to ${grantee.projectId}.`,
  })
}
