import { Router } from 'express'
import type { JsonObject } from '../../lib/json.ts'
import { requireAddressed } from '../../registry/addresses.ts'
import { identityIn } from '../../registry/agent.ts'
import { findAgentById } from '../../registry/agent-store.ts'
import type { RegistryContext } from '../../registry/agents.ts'
import type { Caller } from '../../registry/caller.ts'
import type { Permission } from '../../registry/permission-store.ts'
import { grantPermission, listVisiblePermissions, revokePermission } from '../../registry/permissions.ts'
import type { Reader } from '../../storage/database.ts'
import { callerOf } from '../auth.ts'
import { onlyMethods } from '../method-not-allowed.ts'
import { parse } from '../validate.ts'
import { permissionInput, permissionQuery } from './schemas.ts'

/** `/v1/permissions`: what agents allow each other; granting wakes the grantee. Source: S1-26. */
export function permissionRoutes(context: RegistryContext): Router {
  const { db } = context
  const router = Router()
  router.post('/', async (req, res) => {
    const { permissionId, created } = await grantPermission(context, callerOf(res), parse(permissionInput, req.body))
    res.status(created ? 201 : 200).json({ permissionId })
  })
  router.get('/', async (req, res) => {
    const caller = callerOf(res)
    const { scope, grantor, grantee } = parse(permissionQuery, req.query)
    const permissions = await listVisiblePermissions(db, caller, {
      scope,
      grantorId: await idOf(db, caller, grantor, 'grantor'),
      granteeId: await idOf(db, caller, grantee, 'grantee'),
    })
    res.json({
      permissions: await Promise.all(permissions.map((permission) => permissionView(db, caller, permission))),
    })
  })
  router.delete('/:id', async (req, res) => {
    await revokePermission(context, callerOf(res), req.params.id)
    res.status(204).end()
  })
  router.all('/', onlyMethods('GET', 'POST'))
  router.all('/:id', onlyMethods('DELETE'))
  return router
}

async function idOf(
  db: Reader,
  caller: Caller,
  address: string | undefined,
  field: string,
): Promise<string | undefined> {
  if (address === undefined) return undefined
  if (/^@?operator$/i.test(address)) return 'operator'
  return (await requireAddressed(db, caller, address, field)).id
}

async function permissionView(db: Reader, caller: Caller, permission: Permission): Promise<JsonObject> {
  return {
    permissionId: permission.id,
    scope: permission.scope,
    grantor: await partyOf(db, caller, permission.grantorId),
    grantee: await partyOf(db, caller, permission.granteeId),
    grantedAt: new Date(permission.createdAt).toISOString(),
  }
}

async function partyOf(db: Reader, caller: Caller, id: string): Promise<string> {
  if (id === 'operator') return '@operator'
  const agent = await findAgentById(db, id)
  return agent ? identityIn(caller.projectId, agent) : '@removed'
}
