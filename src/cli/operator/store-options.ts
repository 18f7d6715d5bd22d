import type { Command } from 'commander'
import type { Io } from '../../client/io.ts'
import { warnOfPassword } from '../../client/secret-input.ts'
import type { Config } from '../../config/config.ts'
import { settings } from '../../config/settings.ts'
import { settingOption } from '../options/setting-option.ts'
import { readConfig } from './read-config.ts'

export interface StoreOptions {
  dataDir?: string
  databaseUrl?: string
}

/** Options of a command that works on a store or its keys, without a gateway. */
export function addStoreOptions(command: Command): Command {
  for (const setting of [settings.dataDir, settings.databaseUrl]) command.addOption(settingOption(setting))
  return command
}

/** The configuration that a gateway would read here. */
export async function readStoreConfig(io: Io, { dataDir, databaseUrl }: StoreOptions): Promise<Config> {
  warnOfPassword(io, '--database-url', 'ROUSE_DATABASE_URL', databaseUrl)
  const { envToConfig } = await import('../../config/config.ts')
  return readConfig(envToConfig, {
    ...io.env,
    ...(dataDir !== undefined && { ROUSE_DATA_DIR: dataDir }),
    ...(databaseUrl !== undefined && { ROUSE_DATABASE_URL: databaseUrl }),
  })
}
