import { Problem } from '../errors.ts'
import { newUuid } from '../lib/ids.ts'
import type { NewEvent } from '../log/event.ts'
import { requireAddressed } from '../registry/agents/addresses.ts'
import { type Agent, identityIn } from '../registry/agents/agent.ts'
import { findAgentById, lockAgent } from '../registry/agents/agent-store.ts'
import { type RegistryContext, requireAgent } from '../registry/agents/agents.ts'
import { gatewayIdentity } from '../registry/agents/identity.ts'
import { type Caller, operates, requireSelf } from '../registry/callers/caller.ts'
import {
  countGrants,
  deletePermission,
  findGrant,
  findGrantBetween,
  findPermission,
  insertPermission,
  listPermissions,
  listProjectPermissions,
  type Permission,
  type PermissionPage,
  type PermissionScope,
} from '../registry/permissions/permission-store.ts'
import { requireRoom } from '../registry/shares/shares.ts'
import { grantRevoked } from '../registry/subscriptions/status.ts'
import type { Reader } from '../storage/database.ts'
import { pauseSubscriptionsManagedBy } from '../wakes/store/subscription-state.ts'
import { pausedEvent } from './end-keys.ts'
import type { RemovalContext } from './remove-agent.ts'

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
    // Two grants of one agent take turns, so that the second counts the first.
    if (caller.kind === 'agent') await lockAgent(tx, grantor.id)
    const granted = await countGrants(tx, grantor.id)
    const known = await findGrant(tx, grantor.id, grantee.id, input.scope)
    if (known) return { permissionId: known.id, created: false }
    requireRoom(caller, 'grants', granted, 'Revoke what is not in use.')
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
    await tell(context, tx, caller, grantee, { type: 'permission.granted', data }, grantor.id)
    return { permissionId, created }
  })
}

/** What the caller granted and was granted; the operator sees the project's. */
export function listVisiblePermissions(db: Reader, caller: Caller, page: PermissionPage): Promise<Permission[]> {
  return caller.kind === 'operator'
    ? listProjectPermissions(db, caller.projectId, page)
    : listPermissions(db, caller.id, page)
}

/**
 * Takes a grant back: the grantor or the operator. Without the grant to manage subscriptions, those that the grantee pointed
 * somewhere are paused (D21).
 */
export function revokePermission(context: RemovalContext, caller: Caller, permissionId: string): Promise<void> {
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
    const paused = await pauseManaged(context, tx, permission)
    const data = { permissionId, scope: permission.scope }
    await tell(context, tx, caller, grantee, { type: 'permission.revoked', data }, permission.grantorId, paused)
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
    detail: `scope: only an agent of the same project can manage subscriptions, and ${grantee.handle} belongs to ${grantee.projectId}.`,
  })
}

async function pauseManaged(
  context: RemovalContext,
  tx: Parameters<RegistryContext['append']>[0],
  { grantorId, granteeId, scope }: Permission,
): Promise<NewEvent[]> {
  if (scope !== 'CAN_MANAGE_SUBSCRIPTIONS_OF') return []
  const paused = await pauseSubscriptionsManagedBy(tx, granteeId, grantorId, grantRevoked)
  tx.onCommit(() => paused.forEach(({ id }) => void context.changed(id)))
  return paused.map(({ id, agentId }) => pausedEvent(id, agentId, gatewayIdentity, grantRevoked))
}

/**
 * Tells the grantee where it listens, in its own project's log; a grantor of another project has its own record of it. Nobody
 * writes into another project's log unasked: there it is told only if the grantee granted the grantor something itself, or
 * the operator of both grants. Its list of permissions shows it in any case.
 */
async function tell(
  context: RegistryContext,
  tx: Parameters<RegistryContext['append']>[0],
  caller: Caller,
  grantee: Agent | undefined,
  event: Pick<NewEvent, 'type' | 'data'>,
  grantorId: string,
  more: readonly NewEvent[] = [],
): Promise<void> {
  const told = { ...event, actor: caller.identity, actorId: caller.id }
  const here = caller.projectId
  const there = grantee && (await mayTell(tx, caller, grantee, grantorId)) ? grantee.projectId : here
  // Two logs are locked in one order, whoever grants whom.
  for (const projectId of [...new Set([there, here])].sort()) {
    const audience = grantee?.projectId === projectId ? [grantee.id] : []
    await context.append(tx, projectId, [...(projectId === here ? more : []), { ...told, audience }])
  }
}

async function mayTell(db: Reader, caller: Caller, grantee: Agent, grantorId: string): Promise<boolean> {
  if (grantee.projectId === caller.projectId || operates(caller, grantee.projectId)) return true
  return findGrantBetween(db, grantee.id, grantorId)
}
