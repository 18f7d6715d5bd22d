import { z } from 'zod'
import type { KeyContext } from '../../identity/end-keys.ts'
import { refuseToken } from '../../identity/revoke-token.ts'
import type { TokenVerifier } from '../../identity/token-caller.ts'
import { KiB } from '../../limits.ts'
import { line } from './fields.ts'
import { route } from './route.ts'

const revocation = z
  .strictObject({
    token: line(8 * KiB)
      .min(1)
      .optional(),
    keyId: line(36)
      .regex(/^jwt:[0-9a-f]{32}$/, 'is "jwt:" and 32 hexadecimal digits, as `createdByKey` and the audit show it.')
      .optional(),
    minted: z.boolean().optional(),
  })
  .refine(({ token, keyId }) => token !== undefined || keyId !== undefined, {
    path: ['token'],
    error: 'is required. An admin can send keyId instead.',
  })
  .refine(({ token, keyId }) => token === undefined || keyId === undefined, {
    path: ['keyId'],
    error: 'names a token, as token does. Send only one of the two.',
  })

/** `/v1/tokens/revoke`: refuses an issuer's token before it expires. */
export const tokenRoutes = [
  route('POST /v1/tokens/revoke', {
    name: 'token.revoke',
    what: 'revoke a token',
    access: { scope: 'any', operator: 'any', agent: 'own', peer: 'never', audited: 'first', isRevocation: true },
    body: revocation,
    status: 204,
    handle: async ({ caller, body }, context: KeyContext & { readonly tokens?: TokenVerifier | undefined }) =>
      refuseToken(context, caller, body, body),
  }),
] as const
