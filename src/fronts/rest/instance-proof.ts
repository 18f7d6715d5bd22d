import { Problem } from '../../errors.ts'
import { proofOfInstance } from '../../security/instance-proof.ts'
import { openRoute } from './route.ts'

/**
 * `/.well-known/rouse-instance?challenge=`: proves to callers that can read the gateway's data directory that this gateway
 * listens at the address that they called. The command line calls it before it sends the admin key that it found there.
 */
export const instanceProofRoutes = [
  openRoute('GET /.well-known/rouse-instance', async ({ req, res }, context: { readonly instanceKey: string }) => {
    const { challenge } = req.query
    if (typeof challenge !== 'string' || !/^[\w-]{22,64}$/.test(challenge)) {
      throw new Problem('invalid-request', {
        detail: 'challenge: send 22 to 64 random base64url characters.',
        field: 'challenge',
      })
    }
    const { localAddress = '', localPort = 0 } = req.socket
    res.setHeader('Cache-Control', 'no-store')
    return { proof: proofOfInstance(context.instanceKey, { challenge, address: localAddress, port: localPort }) }
  }),
] as const
