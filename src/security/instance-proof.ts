import { createHmac } from 'node:crypto'

/**
 * Proves that a gateway uses the data directory with this `instance.key`: an HMAC-SHA256 in base64url. It covers the address at which
 * the connection arrived, so that a proxy cannot relay the challenge to the real gateway and its proof back.
 */
export function proofOfInstance(
  instanceKey: string,
  { challenge, address, port }: { challenge: string; address: string; port: number },
): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '')
  return createHmac('sha256', instanceKey).update(`rouse-instance\n${challenge}\n${plain}\n${port}`).digest('base64url')
}
