import { createHmac } from 'node:crypto'

/**
 * The proof that a gateway works with the data directory whose `instance.key` this is: an HMAC-SHA256 in base64url. It covers the address
 * that the connection arrived at, so that nobody can hand a question on to the real gateway and its proof back.
 */
export function proofOfInstance(
  instanceKey: string,
  { challenge, address, port }: { challenge: string; address: string; port: number },
): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '')
  return createHmac('sha256', instanceKey).update(`rouse-instance\n${challenge}\n${plain}\n${port}`).digest('base64url')
}
