import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { HmacKey } from '../lib/hmac.ts'

const keyPrefix = 'whsec_'

/** Returns a signing key as the Standard Webhooks libraries take it: `whsec_` and 32 random bytes in base64. */
export function newSigningKey(random: (bytes: number) => Buffer = randomBytes): string {
  return keyPrefix + random(32).toString('base64')
}

/** A signing key, prepared for both kinds of signature: one key signs thousands of wakes. */
export class PreparedKey {
  readonly #neo: HmacKey
  readonly #standard: HmacKey

  constructor(key: string) {
    this.#neo = new HmacKey(Buffer.from(key, 'utf8'))
    this.#standard = new HmacKey(standardKey(key))
  }

  neoSignature(body: Buffer | string): string {
    return this.#neo.sign('', body, 'hex')
  }

  standardSignature({ eventId, timestampSeconds, body }: BodyToSign): string {
    return `v1,${this.#standard.sign(`${eventId}.${timestampSeconds}.`, body, 'base64')}`
  }
}

interface BodyToSign {
  /** The exact bytes that are sent. */
  readonly body: Buffer | string
  readonly eventId: string
  /** Seconds since the epoch of this attempt; a retry has a new one. */
  readonly timestampSeconds: number
}

interface WakeToSign extends BodyToSign {
  readonly subscriptionId: string
  /** The former keys only while their rotations' overlaps last, the newest first. */
  readonly keys: readonly [current: PreparedKey | string, ...former: (PreparedKey | string)[]]
}

/** Returns every header of a wake. Each attempt is signed twice: the body alone, and id, time and body (Standard Webhooks 1.0). */
export function signHeaders(wake: WakeToSign): Record<string, string> {
  const { body, eventId, subscriptionId, timestampSeconds, keys } = wake
  const [current, ...former] = keys.map(prepared) as [PreparedKey, ...PreparedKey[]]
  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    'X-Neo-Wake-Signature': current.neoSignature(body),
  }
  if (former[0]) headers['X-Neo-Wake-Signature-Previous'] = former[0].neoSignature(body)
  headers['X-Neo-Wake-Event-Id'] = eventId
  headers['X-Neo-Wake-Subscription-Id'] = subscriptionId
  headers['X-Neo-Wake-Schema-Version'] = '1.0'
  headers['webhook-id'] = eventId
  headers['webhook-timestamp'] = String(timestampSeconds)
  headers['webhook-signature'] = [current, ...former].map((key) => key.standardSignature(wake)).join(' ')
  return headers
}

const prepared = (key: PreparedKey | string): PreparedKey => (typeof key === 'string' ? new PreparedKey(key) : key)

/** Returns the headers of Standard Webhooks 1.0; without a key only id and time. */
export function standardHeaders(sent: BodyToSign, key?: PreparedKey): Record<string, string> {
  return {
    'webhook-id': sent.eventId,
    'webhook-timestamp': String(sent.timestampSeconds),
    ...(key === undefined ? {} : { 'webhook-signature': key.standardSignature(sent) }),
  }
}

interface WakeToVerify {
  /** The bytes as they arrived, before any JSON parser. */
  body: Buffer | string
  /** As Node gives them; names in any case. */
  headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The receiver's key, or several while it changes over to a new one. */
  keys: readonly string[]
  nowSeconds: number
  /**
   * `standard-webhooks` (the default) covers the id and the time. `x-neo-wake` covers the body only, so a receiver that
   * chooses it cannot tell a replay by its age and has to remember the `eventId` of each body.
   */
  scheme?: 'standard-webhooks' | 'x-neo-wake'
}

type WakeVerification =
  | { ok: true; scheme: 'standard-webhooks'; eventId: string; timestampSeconds: number }
  | { ok: true; scheme: 'x-neo-wake' }
  | {
      ok: false
      reason:
        | 'missing-key'
        | 'missing-header'
        | 'invalid-timestamp'
        | 'timestamp-too-old'
        | 'timestamp-too-new'
        | 'signature-mismatch'
    }

/**
 * For receivers: whether a wake is genuine and recent. Never throws; compares in constant time. An empty key verifies nothing:
 * anyone can sign with it, and an unset variable reads as one.
 */
export function verifyWake(wake: WakeToVerify): WakeVerification {
  const keys = wake.keys.filter((key) => !isEmptyKey(key))
  if (keys.length === 0) return { ok: false, reason: 'missing-key' }
  return wake.scheme === 'x-neo-wake' ? verifyNeo({ ...wake, keys }) : verifyStandard({ ...wake, keys })
}

/** Both directions, as in the Standard Webhooks libraries. */
const toleranceSeconds = 5 * 60

function verifyStandard({ body, headers, keys, nowSeconds }: WakeToVerify): WakeVerification {
  const eventId = headerOf(headers, 'webhook-id')
  const timestamp = headerOf(headers, 'webhook-timestamp')
  const signatures = headerOf(headers, 'webhook-signature')
  if (!eventId || !timestamp || !signatures) return { ok: false, reason: 'missing-header' }
  if (!/^\d{1,12}$/.test(timestamp)) return { ok: false, reason: 'invalid-timestamp' }

  const timestampSeconds = Number(timestamp)
  if (timestampSeconds < nowSeconds - toleranceSeconds) return { ok: false, reason: 'timestamp-too-old' }
  if (timestampSeconds > nowSeconds + toleranceSeconds) return { ok: false, reason: 'timestamp-too-new' }

  const expected = keys.map((key) => standardSignature({ body, eventId, timestampSeconds: timestamp }, key))
  if (!anyEqual(signatures.split(' '), expected)) return { ok: false, reason: 'signature-mismatch' }
  return { ok: true, scheme: 'standard-webhooks', eventId, timestampSeconds }
}

function verifyNeo({ body, headers, keys }: WakeToVerify): WakeVerification {
  const signature = headerOf(headers, 'x-neo-wake-signature')
  if (!signature) return { ok: false, reason: 'missing-header' }
  const given = [signature, headerOf(headers, 'x-neo-wake-signature-previous')].filter((one) => one !== undefined)
  const expected = keys.map((key) => neoSignature(body, key))
  return anyEqual(given, expected) ? { ok: true, scheme: 'x-neo-wake' } : { ok: false, reason: 'signature-mismatch' }
}

function isEmptyKey(key: string): boolean {
  return key.trim() === '' || key.trim() === keyPrefix
}

function neoSignature(body: Buffer | string, key: string): string {
  return createHmac('sha256', key).update(body).digest('hex')
}

function standardSignature(
  signed: { body: Buffer | string; eventId: string; timestampSeconds: number | string },
  key: string,
): string {
  const hmac = createHmac('sha256', standardKey(key))
  return `v1,${hmac.update(`${signed.eventId}.${signed.timestampSeconds}.`).update(signed.body).digest('base64')}`
}

/** Returns the bytes after `whsec_`. A key in another form counts as text. */
function standardKey(key: string): Buffer {
  const encoded = key.startsWith(keyPrefix) ? key.slice(keyPrefix.length) : ''
  return /^[A-Za-z0-9+/]+={0,2}$/.test(encoded) ? Buffer.from(encoded, 'base64') : Buffer.from(key, 'utf8')
}

/** Compares every pair, so that the time it takes does not depend on which one matched. */
function anyEqual(given: readonly string[], expected: readonly string[]): boolean {
  let found = false
  for (const left of given) {
    for (const right of expected) found = equal(left, right) || found
  }
  return found
}

function equal(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function headerOf(headers: WakeToVerify['headers'], name: string): string | undefined {
  const key = Object.keys(headers).find((candidate) => candidate.toLowerCase() === name)
  const value = key === undefined ? undefined : headers[key]
  return typeof value === 'string' ? value : value?.[0]
}
