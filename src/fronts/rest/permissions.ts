import { grantPermission, listVisiblePermissions, revokePermission } from '../../identity/permissions.ts'
import { requireAddressed } from '../../registry/agents/addresses.ts'
import { identityIn } from '../../registry/agents/agent.ts'
import { findNames } from '../../registry/agents/agent-store.ts'
import { identityFrom, isOperatorAddress, operatorId } from '../../registry/agents/identity.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import type { Permission } from '../../registry/permissions/permission-store.ts'
import type { Reader } from '../../storage/database.ts'
import { requireScope } from '../access/authorise.ts'
import { instant } from './instant.ts'
import { listMax, pageOf, positionToken, readPosition } from './page.ts'
import { newPermission, permissionQuery } from './permission-input.ts'
import { route } from './route.ts'

/** A permission that one agent grants another. */
export interface PermissionView {
  readonly permissionId: string
  readonly scope: string
  /** `@donna`, `@operator`, or `@removed` */
  readonly grantor: string
  readonly grantee: string
  readonly grantedAt: string
}

/** `/v1/permissions`: what agents allow each other. A grant wakes the grantee. Source: S1-26. */
export const permissionRoutes = [
  route('GET /v1/permissions', {
    name: 'permission.list',
    what: 'list permissions',
    access: { scope: 'read', operator: 'any', agent: 'own', peer: 'never', audited: 'no', isRevocation: true },
    query: permissionQuery,
    handle: async ({ caller, query }, { db }) => {
      const { scope = null, grantor, grantee, limit = listMax } = query
      const found = await listVisiblePermissions(db, caller, {
        scope,
        grantorId: await idOf(db, caller, grantor, 'grantor'),
        granteeId: await idOf(db, caller, grantee, 'grantee'),
        ...readPosition(query.pageToken),
        limit: limit + 1,
      })
      const { items, nextPageToken } = pageOf(found, limit, positionToken)
      const partyIds = items.flatMap(({ grantorId, granteeId }) => [grantorId, granteeId])
      const names = await findNames(db, partyIds)
      const party = (id: string): string => {
        const agent = names.get(id)
        return identityFrom(id, agent && identityIn(caller.projectId, agent))
      }
      return { permissions: items.map((permission) => permissionView(permission, party)), nextPageToken }
    },
  }),
  route('POST /v1/permissions', {
    name: 'permission.grant',
    what: 'grant a permission',
    access: { scope: 'manage', operator: 'any', agent: 'own', peer: 'never', audited: 'first' },
    rate: 'startsPerHour',
    body: newPermission,
    status: 201,
    handle: async ({ caller, body, reply }, context) => {
      // Nobody gives what he has not: all others show the grantee something of this agent.
      if (body.scope !== 'CAN_REPLY_TO') requireScope(caller, 'read', `Granting ${body.scope}`)
      const { permissionId, created } = await grantPermission(context, caller, body)
      reply.target = permissionId
      if (!created) reply.status = 200
      return { permissionId }
    },
  }),
  route('DELETE /v1/permissions/:id', {
    name: 'permission.revoke',
    what: 'revoke a permission',
    access: { scope: 'manage', operator: 'any', agent: 'own', peer: 'never', audited: 'first', isRevocation: true },
    status: 204,
    handle: async ({ caller, params }, context) => revokePermission(context, caller, params.id),
  }),
] as const

async function idOf(db: Reader, caller: Caller, address: string | undefined, field: string): Promise<string | null> {
  if (address === undefined) return null
  if (isOperatorAddress(address)) return operatorId
  return (await requireAddressed(db, caller, address, field)).id
}

function permissionView(permission: Permission, party: (id: string) => string): PermissionView {
  return {
    permissionId: permission.id,
    scope: permission.scope,
    grantor: party(permission.grantorId),
    grantee: party(permission.granteeId),
    grantedAt: instant(permission.createdAt),
  }
}
