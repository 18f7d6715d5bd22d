import { Router } from 'express'
import { grantPermission, listVisiblePermissions, revokePermission } from '../../identity/permissions.ts'
import type { RemovalContext } from '../../identity/remove-agent.ts'
import type { JsonObject } from '../../lib/json.ts'
import { pageLimits } from '../../limits.ts'
import { requireAddressed } from '../../registry/agents/addresses.ts'
import { identityIn } from '../../registry/agents/agent.ts'
import { findNames } from '../../registry/agents/agent-store.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import type { Permission } from '../../registry/permissions/permission-store.ts'
import type { Reader } from '../../storage/database.ts'
import { noteTarget } from '../access/rest-access.ts'
import { callerOf } from '../auth.ts'
import { onlyMethods } from '../method-not-allowed.ts'
import { parse } from '../validate.ts'
import { paged, pageToken, readPageToken } from './page-token.ts'
import { permissionInput, permissionQuery } from './schemas.ts'

/** `/v1/permissions`: what agents allow each other; granting wakes the grantee. Source: S1-26. */
export function permissionRoutes(context: RemovalContext): Router {
  const { db } = context
  const router = Router()
  router.post('/', async (req, res) => {
    const { permissionId, created } = await grantPermission(context, callerOf(res), parse(permissionInput, req.body))
    noteTarget(res, permissionId)
    res.status(created ? 201 : 200).json({ permissionId })
  })
  router.get('/', async (req, res) => {
    const caller = callerOf(res)
    const query = parse(permissionQuery, req.query)
    const { scope = null, grantor, grantee, limit = pageLimits.listPage.max } = query
    const found = await listVisiblePermissions(db, caller, {
      scope,
      grantorId: await idOf(db, caller, grantor, 'grantor'),
      granteeId: await idOf(db, caller, grantee, 'grantee'),
      ...readPageToken(query.pageToken),
      limit: limit + 1,
    })
    const { items, nextPageToken } = paged(found, limit, pageToken)
    const names = await findNames(
      db,
      items.flatMap(({ grantorId, granteeId }) => [grantorId, granteeId]),
    )
    const party = (id: string): string => {
      const agent = names.get(id)
      if (agent) return identityIn(caller.projectId, agent)
      return id === 'operator' ? '@operator' : '@removed'
    }
    res.json({ permissions: items.map((permission) => permissionView(permission, party)), nextPageToken })
  })
  router.delete('/:id', async (req, res) => {
    await revokePermission(context, callerOf(res), req.params.id)
    res.status(204).end()
  })
  router.all('/', onlyMethods('GET', 'POST'))
  router.all('/:id', onlyMethods('DELETE'))
  return router
}

async function idOf(db: Reader, caller: Caller, address: string | undefined, field: string): Promise<string | null> {
  if (address === undefined) return null
  if (/^@?operator$/i.test(address)) return 'operator'
  return (await requireAddressed(db, caller, address, field)).id
}

function permissionView(permission: Permission, party: (id: string) => string): JsonObject {
  return {
    permissionId: permission.id,
    scope: permission.scope,
    grantor: party(permission.grantorId),
    grantee: party(permission.granteeId),
    grantedAt: new Date(permission.createdAt).toISOString(),
  }
}
