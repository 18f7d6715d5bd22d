import type { SecretBox } from '../security/secret.ts'
import { PreparedKey } from '../words/signature.ts'

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
