import { z } from 'zod'
import { permissionScopes } from '../../words/callers.ts'
import { address, line, oneOf } from './fields.ts'
import { pageFields } from './page.ts'

export const newPermission = z.strictObject({
  grantee: address,
  scope: oneOf(permissionScopes),
  grantor: line(65).optional(),
})
export const permissionQuery = z.strictObject({
  scope: oneOf(permissionScopes).optional(),
  grantor: address.optional(),
  grantee: address.optional(),
  ...pageFields,
})
