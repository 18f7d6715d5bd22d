import { z } from 'zod'
import type { KeyContext } from '../../identity/end-keys.ts'
import { refuseToken } from '../../identity/revoke-token.ts'
import type { TokenVerifier } from '../../identity/token-caller.ts'
import { keyLimits } from '../../limits.ts'
import { line } from './fields.ts'
import { route } from './route.ts'

/** `/v1/tokens/revoke`: refuses an issuer's token before it expires. */
export const tokenRoutes = [
  route('POST /v1/tokens/revoke', {
    name: 'token.revoke',
    what: 'revoke a token',
    access: { scope: 'any', operator: 'any', agent: 'own', peer: 'never', audited: 'first' },
    body: z.strictObject({ token: line(keyLimits.bearer.max).min(1), minted: z.boolean().optional() }),
    status: 204,
    handle: async ({ caller, body }, context: KeyContext & { readonly tokens?: TokenVerifier | undefined }) =>
      refuseToken(context, caller, body.token, body),
  }),
] as const
