import { createECDH, ECDH } from 'node:crypto'
import type { KeptSecret } from '../security/kept-secret.ts'

/** The name under which the store keeps the keys. */
export const vapidName = 'vapid-keys'
const curve = 'prime256v1'

/** The keys by which push services know this gateway (RFC 8292), in base64url. */
export interface VapidKeys {
  readonly publicKey: string
  readonly privateKey: string
}

/** Returns the keys of a store. The first call makes them. */
export async function loadVapidKeys(kept: KeptSecret): Promise<VapidKeys> {
  return JSON.parse(await kept.load(() => JSON.stringify(newKeys()))) as VapidKeys
}

/** True when the text is the public key of a browser: a point of the curve, not compressed. */
export function isPublicKey(text: string): boolean {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length !== 65 || bytes[0] !== 4) return false
  try {
    ECDH.convertKey(bytes, curve)
    return true
  } catch {
    return false
  }
}

function newKeys(): VapidKeys {
  const keys = createECDH(curve)
  const publicKey = keys.generateKeys('base64url')
  // A number with leading zeros is shorter than 32 bytes.
  const privateKey = Buffer.concat([Buffer.alloc(32), keys.getPrivateKey()]).subarray(-32)
  return { publicKey, privateKey: privateKey.toString('base64url') }
}
