import { createCipheriv, createDecipheriv, createHash, hash, randomBytes, timingSafeEqual } from 'node:crypto'

/** SHA-256 in hex, the stored form of a key of 256 random bits. It cannot be guessed, so it needs neither salt nor stretching. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret)
}

/** Returns the digest by which a secret is compared, in constant time: digests have one length. */
export function digestOf(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

/** Compares in constant time, whatever the lengths. */
export function secretsEqual(a: string, b: string): boolean {
  return timingSafeEqual(digestOf(a), digestOf(b))
}

/** The id of the encryption key with which a text was encrypted. */
export function keyIdOf(sealed: string): string {
  return sealed.split('.', 1)[0]!
}

/** A bearer key: `rk_` and 256 random bits. */
export function newApiKey(): string {
  return `rk_${randomBytes(32).toString('base64url')}`
}

/** A box that only the holder of a secret can open. Its key is another hash than the one that the store has of a key. */
export function boxOf(secret: string): SecretBox {
  return new SecretBox([digestOf(`sealed with ${secret}`).toString('base64')])
}

/**
 * Encrypts secrets at rest with AES-256-GCM. The first key encrypts; every key decrypts, so that keys can be rotated.
 * The text is `<key id>.<iv>.<ciphertext and tag>`, bound to `context` so that it cannot be moved to another row.
 */
export class SecretBox {
  readonly #keys: readonly { id: string; key: Buffer }[]

  /** @param keys 32 bytes each, base64; the newest first. */
  constructor(keys: readonly string[]) {
    this.#keys = keys.map((text) => {
      const key = Buffer.from(text, 'base64')
      if (key.length !== 32) throw new Error('An encryption key must be 32 bytes in base64 (openssl rand -base64 32).')
      return { id: createHash('sha256').update(key).digest('hex').slice(0, 8), key }
    })
    if (this.#keys.length === 0) throw new Error('At least one encryption key is needed.')
  }

  seal(secret: string, context: string): string {
    const { id, key } = this.#keys[0]!
    const iv = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(context))
    const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return `${id}.${iv.toString('base64url')}.${sealed.toString('base64url')}`
  }

  /** The ids of the keys, the newest first: the first eight hex digits of the SHA-256 of each. */
  get keyIds(): string[] {
    return this.#keys.map(({ id }) => id)
  }

  /** True when a text was encrypted with one of these keys. */
  knows(text: string): boolean {
    return this.#keys.some(({ id }) => id === keyIdOf(text))
  }

  /** Encrypts a secret again with the newest key. Returns a text that has that key unchanged. Throws as `open` does. */
  reseal(text: string, context: string): string {
    return keyIdOf(text) === this.#keys[0]!.id ? text : this.seal(this.open(text, context), context)
  }

  /** Throws if the key is not listed any more, or if the text was moved or changed. */
  open(text: string, context: string): string {
    const [id, iv, sealed] = text.split('.')
    const key = this.#keys.find((candidate) => candidate.id === id)?.key
    if (!key || !iv || !sealed) {
      throw new Error(`A secret was encrypted with key ${id}, which ROUSE_ENCRYPTION_KEY no longer lists.`)
    }
    const bytes = Buffer.from(sealed, 'base64url')
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'base64url')).setAAD(Buffer.from(context))
    decipher.setAuthTag(bytes.subarray(-16))
    return Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]).toString('utf8')
  }
}
