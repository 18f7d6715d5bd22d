import type { KeptSecret } from '../security/kept-secret.ts'
import { type CardKey, createCardSigningKey } from './signing.ts'

/** How long a new key is published before it signs: twice as long as its JWKS may be cached. */
export const publishAheadSeconds = 600

/** The stored form: a JWK, as the first start makes it, or a JWK Set after a rotation. */
export function parseCardKeys(text: string): CardKey[] {
  const value = JSON.parse(text) as CardKey | { keys: CardKey[] }
  return 'keys' in value ? (value.keys as CardKey[]) : [value]
}

/** The keys to publish; the signing key comes first. */
export function publishedKeys(keys: readonly CardKey[], nowSeconds: number): CardKey[] {
  const [signing, ...others] = signingFirst(keys, nowSeconds)
  return signing ? [signing, ...others.filter(({ exp = Number.POSITIVE_INFINITY }) => exp > nowSeconds)] : []
}

/**
 * Makes a new key. Verifiers can read it for `aheadSeconds` before it signs. The old key signs until then, and stays published for
 * `keepSeconds` after that. Returns the new stored form, without the private halves of keys that sign nothing more.
 */
export async function rotateCardKeys(
  kept: KeptSecret,
  { nowSeconds, aheadSeconds, keepSeconds }: { nowSeconds: number; aheadSeconds: number; keepSeconds: number },
): Promise<CardKey[]> {
  const text = await kept.read()
  if (text === undefined)
    throw new Error('No card key is kept here yet. The first start of the gateway makes one: rouse serve')
  const nbf = nowSeconds + aheadSeconds
  const [signing, ...others] = publishedKeys(parseCardKeys(text), nowSeconds)
  const exp = nbf + keepSeconds
  // A key that has not begun to sign never will: the newest one replaces it.
  const former = others.map((key) => withoutPrivateHalf({ ...key, exp: Math.min(key.exp ?? exp, exp) }))
  const last = aheadSeconds > 0 ? { ...signing!, exp } : withoutPrivateHalf({ ...signing!, exp })
  const keys = [{ ...(await createCardSigningKey()), nbf }, last, ...former].filter(
    (key) => key.exp === undefined || key.exp > nowSeconds,
  )
  if (!(await kept.replace(text, JSON.stringify({ keys })))) {
    throw new Error(
      'Somebody else replaced the card key meanwhile. Look at the JWKS, and rotate again if it is to be another one.',
    )
  }
  return keys
}

/** The newest key whose time to sign has come. If the clock was set back to before all of them: the oldest. */
function signingFirst(keys: readonly CardKey[], nowSeconds: number): CardKey[] {
  const able = keys.filter((key) => key.d !== undefined).sort((a, b) => (b.nbf ?? 0) - (a.nbf ?? 0))
  const signing = able.find(({ nbf = 0 }) => nbf <= nowSeconds) ?? able.at(-1)
  return signing ? [signing, ...keys.filter((key) => key !== signing)] : []
}

function withoutPrivateHalf({ d: _, ...key }: CardKey): CardKey {
  return key
}
