import { Problem } from '../errors.ts'
import { newUuid } from '../lib/ids.ts'
import type { JsonObject } from '../lib/json.ts'
import type { EventType, NewEvent } from '../log/event.ts'
import type { Addressee } from '../registry/agents/addressee-store.ts'
import { requireAddressed } from '../registry/agents/addresses.ts'
import { identityIn } from '../registry/agents/agent.ts'
import { findAgentById, lockAgent } from '../registry/agents/agent-store.ts'
import { type RegistryContext, requireAgent } from '../registry/agents/agents.ts'
import { gatewayIdentity } from '../registry/agents/identity.ts'
import { policiesOf } from '../registry/agents/party.ts'
import { type Caller, operates, requireSelf } from '../registry/callers/caller.ts'
import type { PermissionScope } from '../registry/permissions/permission-scopes.ts'
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
} from '../registry/permissions/permission-store.ts'
import { requireRoom } from '../registry/shares/caller-limits.ts'
import { grantRevoked } from '../registry/subscriptions/status.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { pauseSubscriptionsManagedBy } from '../wakes/store/subscription-state.ts'
import { pausedEvent } from './end-keys.ts'
import type { RemovalContext } from './remove-agent.ts'

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
    const grantee = await requireAddressed(tx, caller, input.grantee, 'grantee')
    const grantor = await requireGrantor(tx, caller, input.grantor)
    requireGrantable(grantor.id, caller, grantee, input.scope)
    // Of two concurrent grants of one agent, the second waits, so that it counts the first.
    if (caller.kind === 'agent') await lockAgent(tx, grantor.id)
    const granted = await countGrants(tx, grantor.id)
    const known = await findGrant(tx, grantor.id, grantee.id, input.scope)
    if (known) return { permissionId: known.id, created: false }
    requireRoom(caller, 'grants', granted, 'Revoke permissions that are not used.')
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
    await appendChange(context, tx, { type: 'permission.granted', data, caller, grantee, grantorId: grantor.id })
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
    const { grantorId, scope } = permission
    const change = { type: 'permission.revoked', data: { permissionId, scope }, caller, grantee, grantorId } as const
    await appendChange(context, tx, change, paused)
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

async function pauseManaged(
  context: RemovalContext,
  tx: Transaction,
  { grantorId, granteeId, scope }: Permission,
): Promise<NewEvent[]> {
  if (scope !== 'CAN_MANAGE_SUBSCRIPTIONS_OF') return []
  const paused = await pauseSubscriptionsManagedBy(tx, granteeId, grantorId, grantRevoked)
  tx.onCommit(() => paused.forEach(({ id }) => void context.changed(id)))
  return paused.map(({ id, agentId }) => pausedEvent(id, agentId, gatewayIdentity, grantRevoked))
}

/** A permission was granted or revoked. `grantee` is undefined if that agent was removed. */
interface PermissionChange {
  readonly type: EventType
  readonly data: JsonObject
  readonly caller: Caller
  readonly grantee: Addressee | undefined
  readonly grantorId: string
}

/**
 * Appends the event of a change to the log of the caller's project, after `others`, and to the log of the grantee's project, where
 * the grantee's subscriptions read. No agent writes into the log of another project without permission: that log gets the event
 * only if the grantee granted the grantor something itself, or if the operator of both projects makes the change.
 */
async function appendChange(
  context: Pick<RegistryContext, 'append'>,
  tx: Transaction,
  { type, data, caller, grantee, grantorId }: PermissionChange,
  others: readonly NewEvent[] = [],
): Promise<void> {
  const own = caller.projectId
  const other = grantee && (await mayNotify(tx, caller, grantee, grantorId)) ? grantee.projectId : own
  // Two logs are always locked in the same order, so two concurrent changes cannot block each other.
  for (const projectId of [...new Set([other, own])].sort()) {
    const audience = grantee?.projectId === projectId ? [grantee.id] : []
    const parties = audience.map((id) => ({ id, wakePolicy: grantee!.defaultWakePolicy }))
    const routing = type === 'permission.granted' ? policiesOf(parties) : {}
    const shown = { ...data, ...(Object.keys(routing).length > 0 ? { routing } : {}) }
    const event = { type, data: shown, audience, actor: caller.identity, actorId: caller.id }
    await context.append(tx, projectId, [...(projectId === own ? others : []), event])
  }
}

async function mayNotify(db: Reader, caller: Caller, grantee: Addressee, grantorId: string): Promise<boolean> {
  if (grantee.projectId === caller.projectId || operates(caller, grantee.projectId)) return true
  return findGrantBetween(db, grantee.id, grantorId)
}
