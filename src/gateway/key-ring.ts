import { createHash, randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import { parseCardKeys } from '../agent-card/card-keys.ts'
import type { LiveSigner } from '../agent-card/live-signer.ts'
import { type CardKey, createCardSigningKey } from '../agent-card/signing.ts'
import type { Config } from '../config/config.ts'
import { findKeyIds } from '../identity/reseal.ts'
import type { Clock } from '../lib/clock.ts'
import type { Sweep } from '../lib/sweeper.ts'
import type { Logger } from '../logger/logger.ts'
import { AdminKey, givenAdminKeys, openAdminKeys, readAdminKeys } from '../security/admin-key.ts'
import { KeyFile, readKeyFile } from '../security/key-files.ts'
import { markedKeyIds, markKeys } from '../security/key-marks.ts'
import { type KeyPlaces, keyFiles, localKeyPlaces, sharedKeyPlaces } from '../security/key-places.ts'
import { adminWatch, keyWatch } from '../security/key-watch.ts'
import { type ModeListener, requirePrivate } from '../security/private-files.ts'
import { SecretBox } from '../security/secret.ts'
import type { Database } from '../storage/database.ts'

interface Keys {
  readonly secrets: SecretBox
  readonly adminKey: AdminKey
  /** The file with the admin key. Undefined: it was configured. */
  readonly adminKeyFile: string | undefined
  readonly cardKeys: readonly CardKey[]
  /** The name of the store, the same for all its gateways: hexadecimal. It never changes. */
  readonly storeName: string
  /** Proves to the command line on this machine that a gateway uses this data directory. */
  readonly instanceKey: string
  /** Reads the stored admin keys again. Returns whether one is no longer accepted. */
  refreshAdmin(): Promise<boolean>
  /** Reads the stored card keys again. */
  refreshCard(): Promise<readonly CardKey[]>
}

type KeyConfig = Pick<Config, 'dataDir' | 'databaseUrl' | 'adminKeys' | 'encryptionKeys'>

/**
 * Makes sure that only the owner of the data directory can read the secrets and the mail in it. Throws if that cannot be achieved.
 * New files get the right mode.
 */
export function requirePrivateDirectory(dataDir: string, log: Pick<Logger, 'warn'>): void {
  const directory = resolve(dataDir)
  const closed: ModeListener = (path, mode) => log.warn({ path, mode }, 'keys.file_closed')
  requirePrivate('directory', directory, closed)
  for (const name of Object.values(keyFiles)) requirePrivate('secret', join(directory, name), closed)
  for (const name of ['rouse.db', 'rouse.db-wal', 'rouse.db-shm'])
    requirePrivate('store', join(directory, name), closed)
}

/**
 * Returns the gateway's keys: configured ones, else those of the data directory, which are created at the first start. Gateways that
 * share a store share the admin key and the card keys through it, sealed with the encryption key, which is not in the store.
 * Throws when the store was sealed with another encryption key.
 */
export async function openKeys(
  config: KeyConfig,
  db: Database,
  { clock, log }: { clock: Clock; log: Logger },
): Promise<Keys> {
  const directory = resolve(config.dataDir)
  const secrets = await openSecretBox(config)
  await requireKnownKeys(config, db, secrets, log)
  const places =
    config.databaseUrl === undefined ? localKeyPlaces(config.dataDir) : sharedKeyPlaces(config.dataDir, db, secrets)
  const cardText = await places.card.load(newCardKeyText)
  const storeName = await loadStoreName(places, cardText)
  const instanceKey = await new KeyFile(directory, keyFiles.instance).load(() => randomBytes(32).toString('base64url'))
  const given = config.adminKeys && givenAdminKeys(config.adminKeys)
  const adminKeys = given ?? (await openAdminKeys(places.admin))
  const adminKey = new AdminKey(
    adminKeys,
    async () => given ?? readAdminKeys(places.admin),
    () => clock.now(),
    (error) => log.error({ err: error }, 'keys.admin_unread'),
  )
  const local = new KeyFile(directory, keyFiles.admin)
  if (!given) await keepLocally(local, adminKey.current)
  return {
    secrets,
    adminKey,
    adminKeyFile: given ? undefined : local.path,
    cardKeys: parseCardKeys(cardText),
    storeName,
    instanceKey,
    refreshAdmin: () => adminKey.refresh(),
    async refreshCard() {
      // As it is in the store: a rotation that this gateway does not know yet may have written the new one here already.
      const stored = given ? undefined : await readAdminKeys(places.admin)
      if (stored) await keepLocally(local, stored.current)
      await markKeys(db, secrets, [secrets.keyIds[0]!])
      return parseCardKeys((await places.card.read()) ?? cardText)
    },
  }
}

/** Read keys that are replaced while the gateway runs. `adminKeyEnded` is called when an admin key is no longer accepted. */
export function keySweepsOf(keys: Keys, signer: LiveSigner, adminKeyEnded: () => void): Sweep[] {
  return [
    adminWatch(async () => {
      if (await keys.refreshAdmin()) adminKeyEnded()
    }),
    keyWatch(async () => signer.use(await keys.refreshCard())),
  ]
}

/**
 * Returns the configured encryption keys, else those of the data directory, a replacement first. Throws if there is none.
 */
export function readSecretBox({ encryptionKeys, dataDir }: KeyConfig): SecretBox {
  if (encryptionKeys) return new SecretBox(encryptionKeys)
  const directory = resolve(dataDir)
  const current = readKeyFile(directory, keyFiles.encryption)
  if (current === undefined) {
    throw new Error(
      `There is no ${keyFiles.encryption} in ${directory}: set ROUSE_ENCRYPTION_KEY to that of its gateway.`,
    )
  }
  const next = readKeyFile(directory, keyFiles.nextEncryption)
  return new SecretBox(next === undefined ? [current] : [next, current])
}

async function openSecretBox(config: KeyConfig): Promise<SecretBox> {
  if (!config.encryptionKeys) await new KeyFile(resolve(config.dataDir), keyFiles.encryption).load(newEncryptionKey)
  return readSecretBox(config)
}

export function newEncryptionKey(): string {
  return randomBytes(32).toString('base64')
}

/** Throws when the store is sealed with a key that is not configured. */
async function requireKnownKeys(config: KeyConfig, db: Database, secrets: SecretBox, log: Logger): Promise<void> {
  const marked = await markedKeyIds(db)
  // A store of a version without key marks: everything is checked once.
  const used = marked.length > 0 ? marked : await findKeyIds(db)
  const missing = used.filter((id) => !secrets.keyIds.includes(id))
  if (missing.length > 0) throw new Error(unknownKey(config, missing))
  const [newest, ...older] = secrets.keyIds
  await markKeys(db, secrets, [newest!, ...used])
  for (const keyId of older.filter((id) => !used.includes(id))) {
    log.warn(
      { keyId, remedy: 'Leave it out of ROUSE_ENCRYPTION_KEY, unless it is to become the first.' },
      'keys.unneeded',
    )
  }
}

function unknownKey({ encryptionKeys, dataDir, databaseUrl }: KeyConfig, missing: readonly string[]): string {
  const file = join(resolve(dataDir), keyFiles.encryption)
  const has = encryptionKeys ? 'ROUSE_ENCRYPTION_KEY does not list' : `${file} is not`
  const keys = `${missing.length === 1 ? 'the key' : 'the keys'} ${missing.join(', ')}`
  const remedy =
    databaseUrl !== undefined
      ? 'Set ROUSE_ENCRYPTION_KEY to that of the gateway that made the store: it is in encryption.key of its data directory, unless it was set there too.'
      : encryptionKeys
        ? `Set ROUSE_ENCRYPTION_KEY to that of this store, or unset it to use ${file}, if the store was made with that.`
        : `Put the right ${keyFiles.encryption} back into ${resolve(dataDir)}, or set ROUSE_ENCRYPTION_KEY, if it was set before.`
  return `The secrets of this store are sealed with another encryption key: ${has} ${keys}. ${remedy} If it is lost for good: rouse rekey --abandon-lost`
}

/** The command line on this machine reads the admin key from the data directory, also if another gateway has created it. */
export async function keepLocally(file: KeyFile, key: string): Promise<void> {
  const found = await file.load(() => key)
  if (found !== key) await file.replace(found, key)
}

async function newCardKeyText(): Promise<string> {
  return JSON.stringify(await createCardSigningKey())
}

/** Derived from the first card key. */
export async function loadStoreName({ storeName }: KeyPlaces, cardText: string): Promise<string> {
  const name = createHash('sha256').update(cardText).digest('hex')
  return storeName ? storeName.load(() => name) : name
}
