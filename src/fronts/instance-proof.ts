import { Router } from 'express'
import { Problem } from '../errors.ts'
import { proofOfInstance } from '../security/instance-proof.ts'
import { onlyMethods } from './method-not-allowed.ts'

/**
 * `GET /.well-known/rouse-instance?challenge=`: proves to whoever can read the gateway's data directory that it is that gateway which
 * listens where it was asked. The command line asks before it sends the admin key that it found there.
 */
export function instanceProof(instanceKey: string): Router {
  const router = Router()
  const path = '/.well-known/rouse-instance'
  router.get(path, (req, res) => {
    const { challenge } = req.query
    if (typeof challenge !== 'string' || !/^[\w-]{22,64}$/.test(challenge)) {
      throw new Problem('invalid-request', {
        detail: 'challenge: send 22 to 64 random characters of base64url.',
        field: 'challenge',
      })
    }
    const { localAddress = '', localPort = 0 } = req.socket
    res.setHeader('Cache-Control', 'no-store')
    res.json({ proof: proofOfInstance(instanceKey, { challenge, address: localAddress, port: localPort }) })
  })
  router.all(path, onlyMethods('GET'))
  return router
}
