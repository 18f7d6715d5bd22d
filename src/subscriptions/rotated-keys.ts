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

/** Makes a new signing key. Returns it with the columns that keep it, and the previous key while both sign. */
export function rotatedKeys(
  { newSigningKey, secrets }: Pick<SubscriptionContext, 'newSigningKey' | 'secrets'>,
  before: Pick<WakeSubscription, 'id' | 'signingKey'>,
  overlapSeconds: number | undefined,
  now: number,
): {
  readonly signingKey: string
  readonly columns: Pick<WakeSubscription, 'signingKey' | 'previousKey' | 'previousKeyUntil'>
} {
  const signingKey = newSigningKey()
  const overlapMs = Math.round((overlapSeconds ?? overlapDefaultSeconds) * 1000)
  const columns = {
    signingKey: secrets.seal(signingKey, before.id),
    previousKey: overlapMs > 0 ? before.signingKey : null,
    previousKeyUntil: overlapMs > 0 ? now + overlapMs : null,
  }
  return { signingKey, columns }
}
