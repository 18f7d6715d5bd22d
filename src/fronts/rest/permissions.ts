import { Router } from 'express'
import type { RegistryContext } from '../../registry/agents.ts'
import { identityOf } from '../../registry/agents.ts'
import { grantPermission, listVisiblePermissions, revokePermission } from '../../registry/permissions.ts'
import { callerOf } from '../auth.ts'
import { onlyMethods } from '../method-not-allowed.ts'
import { parse } from '../validate.ts'
import { permissionInput } from './schemas.ts'

/** `/v1/permissions`: what agents allow each other; granting wakes the grantee. Source: S1-26. */
export function permissionRoutes(context: RegistryContext): Router {
  const router = Router()
  router.post('/', async (req, res) => {
    const { permissionId, created } = await grantPermission(context, callerOf(res), parse(permissionInput, req.body))
    res.status(created ? 201 : 200).json({ permissionId })
  })
  router.get('/', async (_req, res) => {
    const permissions = await Promise.all(
      (await listVisiblePermissions(context.db, callerOf(res))).map(async (permission) => ({
        permissionId: permission.id,
        scope: permission.scope,
        grantor: await identityOf(context.db, permission.grantorId),
        grantee: await identityOf(context.db, permission.granteeId),
        grantedAt: new Date(permission.createdAt).toISOString(),
      })),
    )
    res.json({ permissions })
  })
  router.delete('/:id', async (req, res) => {
    await revokePermission(context, callerOf(res), req.params.id)
    res.status(204).end()
  })
  router.all('/', onlyMethods('GET', 'POST'))
  router.all('/:id', onlyMethods('DELETE'))
  return router
}
