import { Router } from 'express'
import type { KeyContext } from '../../identity/end-keys.ts'
import { addOperatorKey, readOperatorKeys, removeOperatorKey } from '../../identity/operator-keys.ts'
import type { Clock } from '../../lib/clock.ts'
import { callerOf } from '../auth.ts'
import { onlyMethods } from '../method-not-allowed.ts'
import { parse } from '../validate.ts'
import { keyTerms, operatorKeyInput, operatorKeyRemoval } from './key-schemas.ts'
import { instant, operatorKeyView } from './key-views.ts'

/** `/v1/operator-keys`: the keys of the operators beside the admin key. */
export function operatorKeyRoutes(context: KeyContext & { readonly clock: Clock }): Router {
  const router = Router()
  router.post('/', async (req, res) => {
    const input = keyTerms(parse(operatorKeyInput, req.body), context.clock.now())
    const { id: keyId, operatorKey, expiresAt } = await addOperatorKey(context, callerOf(res), input)
    res.status(201).json({ keyId, operatorKey, role: input.role, expiresAt: instant(expiresAt) })
  })
  router.get('/', async (_req, res) => {
    res.json({ keys: (await readOperatorKeys(context.db, callerOf(res))).map(operatorKeyView) })
  })
  router.delete('/:keyId', async (req, res) => {
    await removeOperatorKey(context, callerOf(res), req.params.keyId, parse(operatorKeyRemoval, req.query))
    res.status(204).end()
  })
  router.all('/', onlyMethods('GET', 'POST'))
  router.all('/:keyId', onlyMethods('DELETE'))
  return router
}
