import { startGateway, type TestGateway } from '../support/gateway.ts'
import type { Issuer } from '../support/issuer.ts'

/** Starts a gateway that accepts the tokens of an issuer. `entry` changes what its configuration says of the issuer. */
export function startTrusting(
  issuer: Issuer,
  entry: object = {},
  options: Parameters<typeof startGateway>[0] = {},
): Promise<TestGateway> {
  const issuers = JSON.stringify([{ issuer: issuer.url, audience: 'rouse', ...entry }])
  return startGateway({ ...options, env: { ROUSE_JWT_ISSUERS: issuers, ...options.env } })
}
