import type { Clock } from '../lib/clock.ts'
import { signingFormerKeys } from '../registry/subscriptions/former-keys.ts'
import type { WakeSubscription } from '../registry/subscriptions/subscription.ts'
import type { SecretBox } from '../security/secret.ts'
import type { SignWake } from '../wakes/channel.ts'
import { wakeBody } from '../wakes/content/emission.ts'
import { PreparedKey, signHeaders } from '../words/signature.ts'

const openedMax = 10_000

/** Signing keys that were decrypted and prepared, by their sealed text. */
export class OpenedKeys {
  readonly #secrets: SecretBox
  readonly #keys = new Map<string, PreparedKey>()

  constructor(secrets: SecretBox) {
    this.#secrets = secrets
  }

  /** Returns the key of a subscription. Throws when it was sealed for another one, or with a key that is not known. */
  open(sealed: string, subscriptionId: string): PreparedKey {
    const known = this.#keys.get(sealed)
    if (known !== undefined) return known
    const key = new PreparedKey(this.#secrets.open(sealed, subscriptionId))
    if (this.#keys.size >= openedMax) this.#keys.clear()
    this.#keys.set(sealed, key)
    return key
  }
}

/** Signs wakes with the keys of their subscriptions. Source: S1-33. */
export function createWakeSigner(secrets: SecretBox, clock: Clock): SignWake {
  const opened = new OpenedKeys(secrets)
  return ({ subscription, agentIdentity, emission }) => {
    let body: string | undefined
    return () => {
      body ??= JSON.stringify(wakeBody(emission, agentIdentity, subscription.id))
      const now = clock.now()
      const headers = signHeaders({
        body,
        eventId: emission.eventId,
        subscriptionId: subscription.id,
        timestampSeconds: Math.floor(now / 1000),
        keys: signingKeys(subscription, opened, now),
      })
      const { traceparent } = emission
      return { body, headers: traceparent === undefined ? headers : { ...headers, traceparent } }
    }
  }
}

/** Returns the key, and the former ones that still sign, the newest first. */
export function signingKeys(
  subscription: WakeSubscription,
  opened: OpenedKeys,
  now: number,
): [PreparedKey, ...PreparedKey[]] {
  const { id, signingKey } = subscription
  if (!signingKey) throw new Error(`Subscription ${id} has no signing key.`)
  const former = signingFormerKeys(subscription, now).map(({ key }) => opened.open(key, id))
  return [opened.open(signingKey, id), ...former]
}
