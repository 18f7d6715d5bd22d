import { expect } from 'vitest'
import { initialize } from '../fronts/mcp/http/wire.ts'
import { bearer, rawClient } from '../grpc/raw-client.ts'
import type { Issuer } from '../support/issuer.ts'
import type { Run } from './run.ts'

/** The gateway's environment for an issuer that it trusts. */
export const trusting = (issuer: Issuer) => ({
  ROUSE_JWT_ISSUERS: JSON.stringify([{ issuer: issuer.url, audience: 'rouse' }]),
})

/** Tokens of a trusted issuer on every front: valid, and refused for each reason that a gateway looks at. */
export async function runTokens(run: Run, issuer: Issuer, stranger: Issuer, adminKey: string): Promise<void> {
  const past = Math.floor(Date.now() / 1000) - 3_600
  const sign = async (what: string, from: Issuer, claims: object) => {
    const token = run.watch.secret(what, await from.sign({ jti: crypto.randomUUID(), ...claims }))
    run.watch.secret(`the signature of ${what}`, token.split('.')[2]!)
    return token
  }
  const valid = await sign('a token', issuer, {})
  const refused = [
    await sign('a token that has expired', issuer, { iat: past, exp: past + 300 }),
    await sign('a token for another audience', issuer, { aud: 'elsewhere' }),
    await sign('a token of nobody', issuer, { sub: 'nobody' }),
    await sign('a token of a stranger', stranger, {}),
    await sign('a token with the signature of a stranger', stranger, { iss: issuer.url }),
  ]
  expect(await askEverywhere(run, valid)).toEqual([200, 200, 404, 200])
  for (const token of refused) expect(await askEverywhere(run, token)).toEqual([401, 401, 401, 401])
  const revoke = (token: string) =>
    run.request('POST', '/v1/tokens/revoke', { token }, { authorization: `Bearer ${adminKey}` })
  expect((await revoke(valid)).status).toBe(204)
  for (const token of refused) expect((await revoke(token)).status).toBeLessThan(500)
  expect(await askEverywhere(run, valid)).toEqual([401, 401, 401, 401])
}

/** The statuses over REST, JSON-RPC, HTTP+JSON and MCP. What gRPC answers is kept too. */
async function askEverywhere(run: Run, token: string): Promise<number[]> {
  using grpc = rawClient(run.gateway.grpcTarget)
  const answer = await grpc.unary('getTask', { tenant: 'agents/donna', id: 'x' }, bearer(token))
  run.watch.emit('the answer to gRPC with a token', JSON.stringify(answer))
  const rpc = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'x' } }
  const headers = { authorization: `Bearer ${token}`, accept: 'application/json, text/event-stream' }
  const answers = [
    await run.request('GET', '/v1/tasks', undefined, headers),
    await run.request('POST', '/agents/donna', rpc, headers),
    await run.request('GET', '/agents/donna/tasks/x', undefined, headers),
    await run.request('POST', '/mcp', initialize(), headers),
  ]
  return answers.map(({ status }) => status)
}
