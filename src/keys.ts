import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import { createCardSigningKey } from './agent-card/signing.ts'
import type { Config } from './config.ts'
import { loadOrCreateKeyFile } from './security/key-files.ts'
import { newApiKey, SecretBox } from './security/secret.ts'
import { sharedSecret } from './security/shared-secret.ts'
import type { Database } from './storage/database.ts'

export interface Keys {
  readonly secrets: SecretBox
  readonly adminKey: string
  /** Where the operator finds the admin key; undefined when it was given. */
  readonly adminKeyFile: string | undefined
  /** JWK */
  readonly cardKey: string
}

/**
 * The gateway's keys: given ones, else those of the data directory, made there at the first start. Gateways that share a
 * store share the admin key and the card key through it, sealed with the encryption key, which is not in it.
 * Throws when the store was sealed with another one.
 */
export async function openKeys(config: Config, db: Database): Promise<Keys> {
  const directory = resolve(config.dataDir)
  const file = (name: string, make: () => string | Promise<string>) => loadOrCreateKeyFile(directory, name, make)
  const secrets = new SecretBox(
    config.encryptionKeys ?? [await file('encryption.key', () => randomBytes(32).toString('base64'))],
  )
  const shared = (name: string, make: () => Promise<string>): Promise<string> =>
    config.databaseUrl === undefined ? make() : sharedSecret(db, secrets, name, make)

  const cardKey = await shared('card-signing-key', () =>
    file('card-signing.jwk', async () => JSON.stringify(await createCardSigningKey())),
  )
  if (config.adminKey) return { secrets, adminKey: config.adminKey, adminKeyFile: undefined, cardKey }
  const adminKey = await shared('admin-key', () => file('admin.key', newApiKey))
  // The command line on this machine looks for it here, also where another gateway made it.
  await file('admin.key', () => adminKey)
  return { secrets, adminKey, adminKeyFile: join(directory, 'admin.key'), cardKey }
}
