import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'

/** A real issuer of tokens on a port of its own: a discovery document, a key set, and keys to sign with. */
export interface Issuer extends AsyncDisposable {
  readonly url: string
  /** The number of requests for its key set. */
  readonly keyReads: number
  /** Takes a new key; the old one is not in its key set any more. */
  rotate(): Promise<void>
  /** Changes what its documents say, or silences it: it takes connections and answers nothing. */
  become(what: { discovery?: object; silent?: boolean; status?: number }): void
  /** A token that lives five minutes from `now`, unless the claims say otherwise. */
  sign(claims: JWTPayload, options?: { alg?: string; kid?: string; typ?: string; now?: number }): Promise<string>
}

export async function startIssuer(alg = 'ES256'): Promise<Issuer> {
  let keyReads = 0
  let count = 0
  let now: { discovery?: object; silent?: boolean; status?: number } = {}
  let signing = await newKey()
  const server = createServer((req, res) => {
    const isKeys = req.url === '/keys'
    if (isKeys) keyReads++
    if (now.silent) return
    const discovery = { issuer: url, jwks_uri: `${url}/keys`, ...now.discovery }
    res.statusCode = now.status ?? 200
    res.setHeader('content-type', 'application/json')
    res.end(JSON.stringify(isKeys ? { keys: [signing.jwk] } : discovery))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  async function newKey() {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
    const kid = `key-${++count}`
    return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
  }
  return {
    url,
    get keyReads() {
      return keyReads
    },
    async rotate() {
      signing = await newKey()
    },
    become(what) {
      now = what
    },
    sign(claims, { kid = signing.kid, typ, now: at = Date.now() } = {}) {
      const seconds = Math.floor(at / 1000)
      const payload = { iss: url, aud: 'rouse', sub: 'donna', iat: seconds, exp: seconds + 300, ...claims }
      return new SignJWT(payload)
        .setProtectedHeader({ alg, kid, ...(typ === undefined ? {} : { typ }) })
        .sign(signing.privateKey)
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}
