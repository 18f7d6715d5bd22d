import { useSignInCode } from '../../identity/sign-in-codes.ts'
import { asCall } from '../../storage/as-call.ts'
import { bearerKey } from '../http/auth.ts'
import { openRoute } from '../rest/route.ts'

/** `/page/sign-in`: takes the code of a link as its bearer key, and answers the key that the code stands for. Once. */
export const signInRoutes = [
  openRoute('POST /page/sign-in', async ({ req, res }, context) => {
    res.setHeader('Cache-Control', 'no-store')
    const { key, caller } = await asCall(context.db, () => useSignInCode(context, bearerKey(req)))
    const { projectId: project, identity: actor, id: callerId, keyId } = caller
    const address = context.clientAddress(req.socket.remoteAddress, req.get('x-forwarded-for'))
    const operation = 'signInCode.use'
    context.audit.note({
      project,
      actor,
      callerId,
      keyId,
      address,
      front: 'rest',
      operation,
      target: '',
      outcome: 'ok',
    })
    return { key }
  }),
] as const
