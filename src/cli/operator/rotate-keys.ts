import { resolve } from 'node:path'
import { publishAheadSeconds, publishedKeys, rotateCardKeys } from '../../agent-card/card-keys.ts'
import type { LocalAct } from '../../audit/local-acts.ts'
import { UsageError } from '../../client/failure.ts'
import type { Printer } from '../../client/printer.ts'
import type { Config } from '../../config/config.ts'
import { keepLocally, loadStoreName, readSecretBox, requirePrivateDirectory } from '../../gateway/key-ring.ts'
import { systemClock } from '../../lib/clock.ts'
import { rotateAdminKey } from '../../security/admin-key.ts'
import { KeyFile } from '../../security/key-files.ts'
import { type KeyPlaces, keyFiles, localKeyPlaces, sharedKeyPlaces } from '../../security/key-places.ts'
import { openDatabase } from '../../storage/open-database.ts'
import { requireEmbeddedStore } from '../../storage/sqlite/migrated.ts'
import { requireKnownToGateways } from './live-gateways.ts'
import { recordAct } from './record-act.ts'

/** Makes a new admin key where gateways look for it. Prints it only if it cannot be written to the data directory's `admin.key`. */
export async function rotateAdmin(
  config: Config,
  { overlapMs, print }: { overlapMs: number; print: Printer },
): Promise<void> {
  if (config.adminKeys) {
    throw new UsageError(
      'The admin key is given by ROUSE_ADMIN_KEY: put a new one first in it (openssl rand -hex 32), restart each gateway, change over, then leave the old one out.',
    )
  }
  const file = new KeyFile(resolve(config.dataDir), keyFiles.admin)
  const { key, until, unrecorded, unkept } = await withKeyPlaces(config, print, async ({ admin }, record) => {
    const { key, formerUntil } = await rotateAdminKey(admin, { now: systemClock.now(), overlapMs })
    const until = new Date(formerUntil).toISOString()
    const target = `the former key ends ${until}`
    // The key is replaced by now: when one of the two fails, the other is still done.
    const unrecorded = await failureOf(record({ operation: 'adminKey.rotate', target, outcome: 'ok' }))
    const unkept = await failureOf(keepLocally(file, key))
    return { key, until, unrecorded, unkept }
  })
  if (unkept) {
    print.result({ adminKey: key, adminKeyFile: null, formerKeyUntil: until }, () => `${key}\n`)
    const message = `The admin key was replaced, and the new one is printed: save it now. ${file.path} could not be written and does not hold it: ${unkept.message}`
    throw new Error(unrecorded ? `${message} ${unrecorded.message}` : message, { cause: unkept })
  }
  if (unrecorded) throw unrecorded
  print.result(
    { adminKeyFile: file.path, formerKeyUntil: until },
    () =>
      `${file.path} holds the new admin key, and every gateway of this store takes it now.\n` +
      (overlapMs > 0
        ? `The old one is taken until ${until}, and earlier ones no longer than that.\n`
        : 'All earlier ones end within one second on every gateway.\n'),
  )
}

/** Makes a new card key where gateways look for it. */
export async function rotateCard(
  config: Config,
  { isUrgent, keepSeconds, print }: { isUrgent: boolean; keepSeconds: number; print: Printer },
): Promise<void> {
  const nowSeconds = Math.floor(systemClock.now() / 1000)
  const keys = await withKeyPlaces(config, print, async (places, record) => {
    // The store's name derives from its first card key, so it is stored before that key is removed.
    const before = await places.card.read()
    if (before !== undefined) await loadStoreName(places, before)
    const aheadSeconds = isUrgent ? 0 : publishAheadSeconds
    const keys = await rotateCardKeys(places.card, { nowSeconds, aheadSeconds, keepSeconds })
    await record({ operation: 'cardKey.rotate', target: keys[0]!.kid ?? '', outcome: 'ok' })
    return keys
  })
  const [made] = keys
  const from = new Date(made!.nbf! * 1000).toISOString()
  const former = publishedKeys(keys, made!.nbf!).slice(1)
  const shown = former.map(({ kid, exp }) => ({ kid, publishedUntil: exp ? new Date(exp * 1000).toISOString() : null }))
  print.result({ kid: made!.kid, signsFrom: from, former: shown }, () =>
    [
      `The new card key ${made!.kid} is published within five seconds, and signs from ${from}.`,
      ...shown.map(({ kid, publishedUntil }) => `${kid} stays published until ${publishedUntil ?? 'it is replaced'}.`),
      '',
    ].join('\n'),
  )
}

async function failureOf(work: Promise<void>): Promise<Error | undefined> {
  try {
    await work
    return undefined
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** Does something to the keys of a store, where they are kept, and gives the work what records it in the audit. */
async function withKeyPlaces<T>(
  config: Config,
  print: Printer,
  work: (places: KeyPlaces, record: (act: LocalAct) => Promise<void>) => Promise<T>,
): Promise<T> {
  const dataDir = resolve(config.dataDir)
  const warn = ({ path }: { path?: string }): void => print.note(`Closed to others: ${path}`)
  requirePrivateDirectory(config.dataDir, { warn })
  if (config.databaseUrl === undefined) {
    // Gateways with another store would not read the new key, and the old one would stay valid.
    requireEmbeddedStore(dataDir)
    return work(localKeyPlaces(dataDir), (act) => recordAct({ dataDir }, act, systemClock))
  }
  const box = readSecretBox(config)
  await using database = await openDatabase({ ...config, dataDir }, systemClock)
  await requireKnownToGateways(database, box, systemClock)
  return await work(sharedKeyPlaces(dataDir, database, box), (act) => recordAct({ database }, act, systemClock))
}
