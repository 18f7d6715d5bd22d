import { type Command, Option } from 'commander'
import { UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import { createPrinter } from '../../client/printer.ts'
import { readStoreConfig, type StoreOptions } from '../operator/store-options.ts'
import { createProgress } from '../output/progress.ts'
import { commonOptions, jsonOption, withExamples } from '../run/client-command.ts'

export function registerMigrate(parent: Command, io: Io): void {
  const command = parent
    .command('migrate')
    .description("copy a stopped gateway's store into an empty PostgreSQL, for several gateways to use")
    .addOption(new Option('--from <engine>', 'the engine of the store now').choices(['sqlite']).makeOptionMandatory())
    .addOption(new Option('--to <engine>', 'the engine to copy to').choices(['postgres']).makeOptionMandatory())
    .option('--data-dir <dir>', "the stopped gateway's data directory (default: ./.rouse) [$ROUSE_DATA_DIR]")
    .option('--database-url <url>', 'postgres://… of the empty database [$ROUSE_DATABASE_URL]')
    .addOption(jsonOption())
  withExamples(command, [
    'rouse migrate --from sqlite --to postgres     # with ROUSE_DATABASE_URL set',
    'rouse migrate --from sqlite --to postgres --data-dir /var/lib/rouse',
  ]).action(async (options: StoreOptions, command: Command) => {
    const [config, { migrateStore }, { systemClock }] = await Promise.all([
      readStoreConfig(io, options),
      import('../operator/migrate-store.ts'),
      import('../../lib/clock.ts'),
    ])
    const { databaseUrl } = config
    if (databaseUrl === undefined) {
      throw new UsageError('Name the database: set ROUSE_DATABASE_URL to its postgres://… URL, or use --database-url.')
    }
    const json = commonOptions(command).json === true
    const print = createPrinter(io, json)
    const progress = createProgress(io, { noun: 'rows', json })
    await migrateStore({ ...config, databaseUrl }, { clock: systemClock, print, progress, signal: io.signal })
  })
}
