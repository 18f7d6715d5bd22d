import { Router } from 'express'
import type { KeyContext } from '../../identity/end-keys.ts'
import { refuseToken } from '../../identity/revoke-token.ts'
import type { TokenVerifier } from '../../identity/token-caller.ts'
import { callerOf } from '../auth.ts'
import { onlyMethods } from '../method-not-allowed.ts'
import { parse } from '../validate.ts'
import { tokenInput } from './key-schemas.ts'

/** `/v1/tokens/revoke`: an issuer's token that is refused before it expires. */
export function tokenRoutes(context: KeyContext & { readonly tokens?: TokenVerifier | undefined }): Router {
  const router = Router()
  router.post('/revoke', async (req, res) => {
    await refuseToken(context, callerOf(res), parse(tokenInput, req.body).token)
    res.status(204).end()
  })
  router.all('/revoke', onlyMethods('POST'))
  return router
}
