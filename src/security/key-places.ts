import { resolve } from 'node:path'
import type { Database } from '../storage/database.ts'
import type { AdminKeyPlace } from './admin-key.ts'
import type { KeptSecret } from './kept-secret.ts'
import { KeyFile } from './key-files.ts'
import type { SecretBox } from './secret.ts'
import { SharedSecret, storeName } from './shared-secret.ts'

/** The files of a data directory that hold secrets. */
export const keyFiles = {
  admin: 'admin.key',
  formerAdmin: 'admin.key.former',
  card: 'card-signing.jwk',
  encryption: 'encryption.key',
  /** Exists while `rouse rekey --new-key` runs: the new key. */
  nextEncryption: 'encryption.key.next',
  instance: 'instance.key',
} as const

/** Where replaceable keys are stored. */
export interface KeyPlaces {
  readonly admin: AdminKeyPlace
  readonly card: KeptSecret
  /** Shared by all gateways of a store. Undefined for the embedded store. */
  readonly storeName: KeptSecret | undefined
}

/** The places of a gateway with an embedded store. */
export function localKeyPlaces(dataDir: string): KeyPlaces {
  const file = (name: string) => new KeyFile(resolve(dataDir), name)
  const admin = { current: file(keyFiles.admin), former: file(keyFiles.formerAdmin) }
  return { admin, card: file(keyFiles.card), storeName: undefined }
}

/** The places of gateways that share a store. The first gateway brings the keys of its data directory. */
export function sharedKeyPlaces(dataDir: string, db: Database, secrets: SecretBox): KeyPlaces {
  const file = (name: string) => new KeyFile(resolve(dataDir), name)
  const shared = (name: string, local?: KeyFile): KeptSecret =>
    sharedOrLocal(new SharedSecret(db, secrets, name), local)
  return {
    admin: { current: shared('admin-key', file(keyFiles.admin)), former: shared('former-admin-keys') },
    card: shared('card-signing-key', file(keyFiles.card)),
    storeName: shared(storeName),
  }
}

function sharedOrLocal(shared: SharedSecret, local: KeyFile | undefined): KeptSecret {
  return {
    read: () => shared.read(),
    load: (make) => shared.load(() => (local ? local.load(make) : make())),
    replace: (before, after) => shared.replace(before, after),
  }
}
