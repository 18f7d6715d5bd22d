import type { Command } from 'commander'
import type { Io } from '../../client/io.ts'
import { warnOfPassword } from '../../client/secret-input.ts'
import type { Config } from '../../config.ts'
import { readConfig } from './read-config.ts'

export interface StoreOptions {
  dataDir?: string
  databaseUrl?: string
}

/** Options of a command that works on a store or its keys, without a gateway. */
export function addStoreOptions(command: Command): Command {
  return command
    .option('--data-dir <dir>', "the gateway's data directory (default: ./.rouse) [$ROUSE_DATA_DIR]")
    .option(
      '--database-url <url>',
      'postgres://… of the store, if it is not in the data directory [$ROUSE_DATABASE_URL]',
    )
}

/** The configuration that a gateway would read here. */
export async function readStoreConfig(io: Io, { dataDir, databaseUrl }: StoreOptions): Promise<Config> {
  warnOfPassword(io, '--database-url', 'ROUSE_DATABASE_URL', databaseUrl)
  const { envToConfig } = await import('../../config.ts')
  return readConfig(envToConfig, {
    ...io.env,
    ...(dataDir !== undefined && { ROUSE_DATA_DIR: dataDir }),
    ...(databaseUrl !== undefined && { ROUSE_DATABASE_URL: databaseUrl }),
  })
}
