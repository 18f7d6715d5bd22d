import { verifyWake as verifyOne } from '../words/signature.ts'

export interface ReceivedWake {
  /** The bytes as they arrived, before any JSON parser. */
  readonly body: Uint8Array | string
  /** As Node gives them, or the `Headers` of fetch. */
  readonly headers:
    | Readonly<Record<string, string | readonly string[] | undefined>>
    | Iterable<readonly [string, string]>
  /** The signing key of the subscription, or several while the receiver changes over to a new one. */
  readonly keys: readonly string[]
  /** Seconds since the epoch. Default: now. */
  readonly nowSeconds?: number
}

export type VerifiedWake =
  | { readonly ok: true; readonly eventId: string; readonly timestampSeconds: number }
  | {
      readonly ok: false
      readonly reason:
        | 'missing-key'
        | 'missing-header'
        | 'invalid-timestamp'
        | 'timestamp-too-old'
        | 'timestamp-too-new'
        | 'signature-mismatch'
    }

/**
 * For receivers: whether a wake is genuine and recent. Checks both signatures, `X-Neo-Wake-Signature` over the body and those of
 * Standard Webhooks over id, time and body, in constant time. A wake is recent for five minutes. Never throws. Source: S1-33, D2.
 */
export function verifyWake(wake: ReceivedWake): VerifiedWake {
  const { keys, nowSeconds = Math.floor(Date.now() / 1000) } = wake
  const body = typeof wake.body === 'string' ? wake.body : Buffer.from(wake.body)
  const headers = Symbol.iterator in wake.headers ? Object.fromEntries(pairs(wake.headers)) : wake.headers
  const given = { body, headers, keys, nowSeconds }
  const standard = verifyOne({ ...given, scheme: 'standard-webhooks' })
  const own = verifyOne({ ...given, scheme: 'x-neo-wake' })
  if (!standard.ok) return standard
  if (!own.ok) return own
  if (standard.scheme !== 'standard-webhooks') return { ok: false, reason: 'signature-mismatch' }
  return { ok: true, eventId: standard.eventId, timestampSeconds: standard.timestampSeconds }
}

function pairs(headers: object): Iterable<readonly [string, string]> {
  return headers as Iterable<readonly [string, string]>
}
