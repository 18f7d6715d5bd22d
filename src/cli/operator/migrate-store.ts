import { resolve } from 'node:path'
import { auditRow, recordOf, takeLocalActs } from '../../audit/local-acts.ts'
import type { Printer } from '../../client/printer.ts'
import { readSecretBox } from '../../gateway/key-ring.ts'
import { findKeyIds } from '../../identity/reseal.ts'
import type { Clock } from '../../lib/clock.ts'
import { carriedSecrets } from '../../security/carried-secrets.ts'
import { readKeyFile } from '../../security/key-files.ts'
import { keyFiles } from '../../security/key-places.ts'
import { type Copy, copyStore } from '../../storage/copy-store.ts'
import { NewStore } from '../../storage/postgres/new-store.ts'
import { markMigrated } from '../../storage/sqlite/migrated.ts'
import { StoppedStore } from '../../storage/sqlite/stopped-store.ts'
import { requeueAll } from '../../wakes/store/lease-store.ts'
import { disconnectStreams } from '../../wakes/store/stream-state.ts'
import type { Progress } from '../output/progress.ts'
import { whoRunsThis } from './record-act.ts'

interface MigrateConfig {
  readonly dataDir: string
  readonly databaseUrl: string
  readonly adminKeys: readonly string[] | undefined
  readonly encryptionKeys: readonly string[] | undefined
}

interface MigrateWorld {
  readonly clock: Clock
  readonly print: Printer
  /** Of rows. */
  readonly progress: Progress
  readonly signal?: AbortSignal
}

/**
 * Copies a stopped gateway's store into an empty PostgreSQL, in one transaction, with the keys of its data directory. Gateways
 * that share the encryption key continue where it stopped.
 */
export async function migrateStore(
  config: MigrateConfig,
  { clock, print, progress, signal }: MigrateWorld,
): Promise<void> {
  const directory = resolve(config.dataDir)
  print.note(`Reading the store in ${directory} …`)
  await using source = StoppedStore.open(directory, clock)
  const keyFile = config.encryptionKeys ? undefined : readKeyFile(directory, keyFiles.encryption)
  if (!config.encryptionKeys && readKeyFile(directory, keyFiles.nextEncryption) !== undefined) {
    throw new Error(
      `A change of the encryption key in ${directory} was not finished: run \`rouse rekey --new-key\` first.`,
    )
  }
  const box = readSecretBox(config)
  // As its next start would: every lease is of a gateway that is gone.
  await requeueAll(source.database)
  await source.database.transaction(disconnectStreams)
  await takeLocalActs(source.database, directory)
  const keys = {
    'admin-key': config.adminKeys?.[0] ?? readKeyFile(directory, keyFiles.admin),
    'former-admin-keys': readKeyFile(directory, keyFiles.formerAdmin),
    'card-signing-key': readKeyFile(directory, keyFiles.card),
  }
  if ((await findKeyIds(source.database)).some((id) => !box.keyIds.includes(id))) {
    throw new Error(
      `Secrets in ${directory} are encrypted with a key that ROUSE_ENCRYPTION_KEY does not list: give it the keys of their gateway, or unset it to use encryption.key.`,
    )
  }
  const secrets = await carriedSecrets(source.database, box, keys, clock.now())

  signal?.throwIfAborted()
  print.note(`Copying into ${placeOf(config.databaseUrl)}, in one transaction: if interrupted, nothing is kept …`)
  await using target = await NewStore.open(config.databaseUrl, clock)
  const act = { operation: 'store.migrate', target: placeOf(config.databaseUrl), outcome: 'ok' } as const
  const audited = auditRow(recordOf(act, whoRunsThis(), clock.now()))
  const copy = await copyStore(source, target, {
    extra: [
      ...secrets.map((values) => ({ table: 'shared_secret', values: { ...values } })),
      { table: 'audit', values: audited },
    ],
    progress: progress.show,
    signal,
  }).finally(progress.end)
  markMigrated(directory, placeOf(config.databaseUrl), clock.now())
  if (copy.textsMended > 0) {
    print.note(`${copy.textsMended} texts held a NUL character, which PostgreSQL cannot keep: it became U+FFFD.`)
  }
  print.result(
    { dataDir: directory, tables: copy.tables, logHeads: copy.logHeads, textsMended: copy.textsMended },
    () => resultText(copy, directory, keyFile !== undefined),
  )
}

function resultText(copy: Copy, directory: string, hasKeyFile: boolean): string {
  const rows = copy.tables.reduce((sum, table) => sum + table.rows, 0)
  const logs = copy.logHeads.map(({ projectId, logHead }) => `  the log of ${projectId} ends at ${logHead}\n`).join('')
  const key = hasKeyFile
    ? `set ROUSE_ENCRYPTION_KEY to what is in\n     ${directory}/encryption.key for every gateway, or put that file into its data directory.`
    : `every gateway needs the\n     ROUSE_ENCRYPTION_KEY that is set here.`
  return `Copied and counted: ${counted(rows, 'row')} in ${copy.tables.length} tables.
${logs}
Next:
  1. Carry the encryption key over: ${key}
     The admin key and the key that signs agent cards are in the new store already, sealed with it.
  2. Start the gateways with ROUSE_DATABASE_URL set: rouse serve
  3. No gateway starts without it on ${directory} any more: what is there is a copy of this moment.
`
}

/** The URL without its secrets. */
function placeOf(url: string): string {
  const { hostname, port, pathname } = new URL(url)
  return `${hostname || 'localhost'}${port ? `:${port}` : ''}${pathname}`
}

function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}
