import type { NewEvent } from '../log/event.ts'
import type { Addressee } from '../registry/agents/addressee-store.ts'
import { findAgentById } from '../registry/agents/agent-store.ts'
import { gatewayIdentity } from '../registry/agents/identity.ts'
import { deletePermission, findGrantBetween, type Permission } from '../registry/permissions/permission-store.ts'
import { grantRevoked } from '../registry/subscriptions/status.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { pauseSubscriptionsManagedBy } from '../wakes/store/subscription-state.ts'
import type { IdentityContext } from './context.ts'
import type { EventsByProject } from './events-by-project.ts'
import { pausedEvent } from './paused-event.ts'

/** The author of a change of a permission: an identity, and an id where it is a caller. */
interface By extends Pick<NewEvent, 'actor' | 'actorId'> {
  /** True when it operates a project. Absent: none. */
  readonly operates?: (projectId: string) => boolean
}

/**
 * Deletes a permission, pauses the subscriptions whose target the grantee set with it (D21), and adds the events about it. Returns false
 * if the permission was gone.
 */
export async function endGrant(
  { sessions: { changed } }: IdentityContext,
  tx: Transaction,
  permission: Permission,
  by: By,
  events: EventsByProject,
): Promise<boolean> {
  const { id: permissionId, projectId, grantorId, granteeId, scope } = permission
  if (!(await deletePermission(tx, permissionId))) return false
  const isToManage = scope === 'CAN_MANAGE_SUBSCRIPTIONS_OF'
  const paused = isToManage ? await pauseSubscriptionsManagedBy(tx, granteeId, grantorId, grantRevoked) : []
  tx.onCommit(() => paused.forEach(({ id }) => void changed(id)))
  for (const { id, agentId } of paused) events.add(projectId, pausedEvent(id, agentId, gatewayIdentity, grantRevoked))
  const grantee = await findAgentById(tx, granteeId)
  const { actor, actorId } = by
  for (const { id, audience } of await projectsTold(tx, { projectId, grantorId }, grantee, by)) {
    const caused = actorId === undefined ? { actor } : { actor, actorId }
    events.add(id, { type: 'permission.revoked', ...caused, audience, data: { permissionId, scope } })
  }
  return true
}

/**
 * Returns the projects whose logs get the event of a change, with its audience there: the grantor's, and the grantee's, where the
 * grantee's subscriptions read. No agent writes into the log of another project without permission: that log gets the event only if the
 * grantee granted the grantor something itself, or if an operator of the grantee's project makes the change.
 * @param grantee undefined: that agent was removed
 */
export async function projectsTold(
  db: Reader,
  { projectId, grantorId }: Pick<Permission, 'projectId' | 'grantorId'>,
  grantee: Addressee | undefined,
  { operates }: Pick<By, 'operates'>,
): Promise<{ readonly id: string; readonly audience: readonly string[] }[]> {
  const isTold =
    grantee &&
    (grantee.projectId === projectId ||
      operates?.(grantee.projectId) ||
      (await findGrantBetween(db, grantee.id, grantorId)))
  const projects = new Set(isTold ? [projectId, grantee.projectId] : [projectId])
  return [...projects].map((id) => ({ id, audience: grantee?.projectId === id ? [grantee.id] : [] }))
}
