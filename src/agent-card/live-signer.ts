import type { Clock } from '../lib/clock.ts'
import { publishedKeys } from './card-keys.ts'
import { type CardKey, type CardSigner, createCardSigner } from './signing.ts'

/** A signer whose keys can be replaced while it is in use. */
export interface LiveSigner extends CardSigner {
  /** Signs with, and publishes, the keys of this stored form that are due at the current time. */
  use(keys: readonly CardKey[]): Promise<void>
}

/** Errors: as `createCardSigner`. */
export async function createLiveSigner(keys: readonly CardKey[], publicUrl: string, clock: Clock): Promise<LiveSigner> {
  const publishedNow = (all: readonly CardKey[]) => publishedKeys(all, Math.floor(clock.now() / 1000))
  let names = namesOf(publishedNow(keys))
  let signer = await createCardSigner(publishedNow(keys), publicUrl)
  return {
    get kid() {
      return signer.kid
    },
    get signsSince() {
      return signer.signsSince
    },
    sign: (card) => signer.sign(card),
    signDocument: (document) => signer.signDocument(document),
    signDetached: (document, header) => signer.signDetached(document, header),
    signToken: (token) => signer.signToken(token),
    jwks: () => signer.jwks(),
    async use(next) {
      const published = publishedNow(next)
      if (namesOf(published) === names) return
      signer = await createCardSigner(published, publicUrl)
      names = namesOf(published)
    },
  }
}

/** The public keys in their order, as text. Equal texts: nothing has changed. */
function namesOf(keys: readonly CardKey[]): string {
  return keys.map(({ x, y }) => `${x} ${y}`).join(' ')
}
