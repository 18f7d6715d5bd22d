import { join, resolve } from 'node:path'
import type { LocalAct } from '../../audit/local-acts.ts'
import { UsageError } from '../../client/failure.ts'
import type { Printer } from '../../client/printer.ts'
import type { Config } from '../../config/config.ts'
import { newEncryptionKey, readSecretBox, requirePrivateDirectory } from '../../gateway/key-ring.ts'
import { type ResealReport, resealStore } from '../../identity/reseal.ts'
import type { Clock } from '../../lib/clock.ts'
import { KeyFile, readKeyFile } from '../../security/key-files.ts'
import { keyFiles } from '../../security/key-places.ts'
import type { Database } from '../../storage/database.ts'
import { openDatabase } from '../../storage/open-database.ts'
import { requireEmbeddedStore } from '../../storage/sqlite/migrated.ts'
import { StoppedStore } from '../../storage/sqlite/stopped-store.ts'
import type { Progress } from '../output/progress.ts'
import { requireKnownToGateways, requireNoGateway } from './live-gateways.ts'
import { recordAct } from './record-act.ts'

interface RekeyWorld {
  readonly newKey: boolean
  readonly abandonsLost: boolean
  readonly clock: Clock
  readonly print: Printer
  /** Of subscriptions. */
  readonly progress: Progress
  readonly signal?: AbortSignal
}

/**
 * Encrypts all secrets of a store again, with the newest encryption key. With `newKey` it makes that key first. The old key is kept
 * until nothing needs it, and a gateway that starts before then has both.
 */
export async function rekeyStore(
  config: Config,
  { newKey, abandonsLost, clock, print, progress, signal }: RekeyWorld,
): Promise<void> {
  const directory = resolve(config.dataDir)
  if (newKey) requireOwnKey(config)
  requirePrivateDirectory(directory, { warn: ({ path }: { path?: string }) => print.note(`Closed to others: ${path}`) })
  await using store = await openStore(config, directory, clock)
  const next = new KeyFile(directory, keyFiles.nextEncryption)
  const isShared = config.databaseUrl !== undefined
  if (abandonsLost && isShared) await requireNoGateway(store.database, clock)
  // Gateways that share a store have their key from elsewhere: one that is made here would be known to none of them.
  if (abandonsLost && !isShared && !config.encryptionKeys)
    await new KeyFile(directory, keyFiles.encryption).load(newEncryptionKey)
  if (newKey) {
    readSecretBox(config)
    await next.load(newEncryptionKey)
  }
  const box = readSecretBox(config)
  if (isShared) await requireKnownToGateways(store.database, box, clock)
  const target = `${box.keyIds[0]}${abandonsLost ? ', lost keys abandoned' : ''}`
  const record = (outcome: LocalAct['outcome']): Promise<void> =>
    recordAct({ database: store.database }, { operation: 'store.rekey', target, outcome }, clock)
  const report = await resealStore(store.database, box, { progress: progress.show, abandonsLost, signal })
    .finally(progress.end)
    .catch(async (error) => {
      // The secrets that it has sealed until now stay so.
      await record('failed')
      throw error
    })
  const isWhole = abandonsLost || Object.keys(report.unreadable).length === 0
  const isReplaced = !config.encryptionKeys && isWhole && readKeyFile(directory, keyFiles.nextEncryption) !== undefined
  if (isReplaced) next.rename(keyFiles.encryption)
  await record(isWhole ? 'ok' : 'incomplete')
  const keyId = box.keyIds[0]!
  const place = isReplaced ? join(directory, keyFiles.encryption) : undefined
  print.result({ keyId, keyFile: place ?? null, ...report }, () => resultText(report, keyId, place))
  if (!isWhole && !abandonsLost) throw new Error(unreadableText(report))
}

async function openStore(
  config: Config,
  directory: string,
  clock: Clock,
): Promise<AsyncDisposable & { readonly database: Database }> {
  if (config.databaseUrl === undefined) {
    requireEmbeddedStore(directory)
    return StoppedStore.open(directory, clock)
  }
  const database = await openDatabase({ ...config, dataDir: directory }, clock)
  return { database, [Symbol.asyncDispose]: () => database.close() }
}

function requireOwnKey({ encryptionKeys, databaseUrl }: Config): void {
  if (encryptionKeys) {
    throw new UsageError(
      'ROUSE_ENCRYPTION_KEY is set: put a new key first in it (openssl rand -base64 32), the old one after it, and run this without --new-key.',
    )
  }
  if (databaseUrl !== undefined) {
    throw new UsageError(
      'Gateways that share a store need the new key first: give all of them ROUSE_ENCRYPTION_KEY="<new> <old>", the old one from encryption.key, and run this without --new-key.',
    )
  }
}

function resultText(
  { resealed, unreadable, unneeded }: ResealReport,
  keyId: string,
  place: string | undefined,
): string {
  const { signingKeys, previousKeys, pushTokens, pushCredentials, sharedSecrets } = resealed
  const count = `signing keys ${signingKeys}, former signing keys ${previousKeys}, push tokens ${pushTokens}, push credentials ${pushCredentials}, shared secrets ${sharedSecrets}`
  const gone = unneeded.length === 0 ? '' : `Nothing in the store needs ${unneeded.join(', ')} any more.\n`
  const next = place
    ? `${place} holds the new key. Copies of the store from before need the old one.\n`
    : unneeded.length === 0
      ? ''
      : 'Leave it out of ROUSE_ENCRYPTION_KEY with the next restart of each gateway; copies of the store from before need it.\n'
  const lostCount = Object.values(unreadable).reduce((total, one) => total + one, 0)
  const lost =
    lostCount === 0
      ? ''
      : `${lostCount} secrets open never more. Their subscriptions become degraded with the next wake; rotate their keys: rouse sub update <id> --rotate-key\n`
  return `Encrypted again with the key ${keyId}: ${count}.\n${lost}${gone}${next}`
}

function unreadableText({ unreadable }: ResealReport): string {
  const list = Object.entries(unreadable).map(([keyId, count]) => `${count} with ${keyId}`)
  return `Some secrets are encrypted with keys that are not listed: ${list.join(', ')}. Add those keys to ROUSE_ENCRYPTION_KEY and run this again. If they are lost: rouse rekey --abandon-lost`
}
