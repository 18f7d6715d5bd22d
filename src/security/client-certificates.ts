import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Clock } from '../lib/clock.ts'

/** How often an open connection is looked at, at least: the clock may have been set, or the machine may have slept. */
const lookEveryMs = 60_000

/**
 * True when the client of a connection has presented a certificate that the CAs have signed and that is valid now. `authorized` alone is
 * not enough: it says what was true at a handshake, and Node sets it for every resumed session of TLS 1.3, even one that began without
 * a certificate.
 */
export function isVouchedFor(socket: Socket, clock: Clock): boolean {
  return leftMs(socket, clock) > 0
}

/** Ends a connection that is vouched for when its certificate does, with all that runs on it. A new one then needs a new certificate. */
export function endWithCertificate(socket: Socket, clock: Clock): void {
  let cancel = () => {}
  const look = () => {
    const left = leftMs(socket, clock)
    if (left > 0) cancel = clock.after(Math.min(left, lookEveryMs), look)
    else socket.destroy()
  }
  socket.once('close', () => cancel())
  look()
}

/** For how long the certificate of a client is still valid; 0 if it is not, or if there is none. */
function leftMs(socket: Socket, clock: Clock): number {
  if (!(socket instanceof TLSSocket && socket.authorized)) return 0
  const certificate = socket.getPeerX509Certificate()
  if (certificate === undefined) return 0
  const now = clock.now()
  const isValid = Date.parse(certificate.validFrom) <= now && now < Date.parse(certificate.validTo)
  return isValid ? Date.parse(certificate.validTo) - now : 0
}
