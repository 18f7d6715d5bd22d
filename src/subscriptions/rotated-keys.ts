import { Problem } from '../errors.ts'
import { type FormerKey, formerKeysMax, signingFormerKeys } from '../registry/subscriptions/former-keys.ts'
import type { WakeSubscription } from '../registry/subscriptions/subscription.ts'
import type { SubscriptionContext } from './context.ts'

/** How long both keys sign after a rotation that does not say. */
const overlapDefaultSeconds = 24 * 60 * 60

/** Makes the key of a subscription that has none yet. */
export function firstKey(
  { newSigningKey, secrets }: Pick<SubscriptionContext, 'newSigningKey' | 'secrets'>,
  id: string,
): { readonly signingKey: string; readonly columns: Pick<WakeSubscription, 'signingKey'> } {
  const signingKey = newSigningKey()
  return { signingKey, columns: { signingKey: secrets.seal(signingKey, id) } }
}

/**
 * Makes a new signing key. Returns it with the columns that keep it and the former keys that still sign: each for the overlap
 * that its own rotation promised. Errors: `rotation-too-soon`. Source: D36.
 */
export function rotatedKeys(
  { newSigningKey, secrets }: Pick<SubscriptionContext, 'newSigningKey' | 'secrets'>,
  before: Pick<WakeSubscription, 'id' | 'signingKey' | 'formerKeys'>,
  overlapSeconds: number | undefined,
  now: number,
): { readonly signingKey: string; readonly columns: Pick<WakeSubscription, 'signingKey' | 'formerKeys'> } {
  const signingKey = newSigningKey()
  const overlapMs = Math.round((overlapSeconds ?? overlapDefaultSeconds) * 1000)
  const earlier = signingFormerKeys(before, now)
  const previous = before.signingKey && overlapMs > 0 ? [{ key: before.signingKey, until: now + overlapMs }] : []
  const formerKeys = [...previous, ...earlier]
  if (formerKeys.length > formerKeysMax) throw tooSoon(earlier)
  return { signingKey, columns: { signingKey: secrets.seal(signingKey, before.id), formerKeys } }
}

function tooSoon(former: readonly FormerKey[]): Problem {
  const nextRotationAt = new Date(Math.min(...former.map(({ until }) => until))).toISOString()
  return new Problem('rotation-too-soon', {
    field: 'rotateSigningKey',
    detail: `rotateSigningKey: ${former.length} former keys still sign, as their rotations promised. Rotate again from ${nextRotationAt}, or with overlapSeconds: 0, which ends the present key at once.`,
    extra: { nextRotationAt },
  })
}
