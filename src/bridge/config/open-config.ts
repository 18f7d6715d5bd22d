import type { Io } from '../../client/io.ts'
import { type Profiles, readProfiles } from '../../client/profile-file.ts'
import type { AdapterId, AdapterRow, Adapters } from '../adapter.ts'
import type { BridgeConfig } from './bridge-config.ts'
import { configPath, readConfigText } from './config-file.ts'
import { harnessesIn, parseConfig, readBridgeConfig } from './read-config.ts'

/** A configuration that was read, with the rows of the harnesses of its agents. */
interface OpenedConfig {
  readonly config: BridgeConfig
  readonly rows: readonly AdapterRow[]
}

/** Reads the user's configuration. `option`: its path; `adapters`: those that there are. Errors: `UsageError`, with the remedy. */
export async function openConfig(io: Io, option: string | undefined, adapters: Adapters): Promise<OpenedConfig> {
  const path = configPath(option, io.env)
  return checkConfig(io, path, readConfigText(path), adapters)
}

/** Reads a text that is, or will be, the configuration at a path. Errors: as above. */
export async function checkConfig(
  io: Io,
  path: string,
  text: string,
  adapters: Adapters,
  profiles: Profiles = readProfiles(io),
): Promise<OpenedConfig> {
  const value = parseConfig(text, path)
  const known = Object.keys(adapters)
  const rows = await rowsOf(adapters, harnessesIn(value, known))
  const config = readBridgeConfig(value, path, { env: io.env, profiles, known, rows })
  const used = new Set(config.agents.flatMap(({ harnesses }) => harnesses))
  return { config, rows: [...rows.values()].filter(({ id }) => used.has(id)) }
}

/** Loads the rows of adapters. */
export async function rowsOf(adapters: Adapters, ids: readonly AdapterId[]): Promise<Map<AdapterId, AdapterRow>> {
  const rows = await Promise.all(ids.map((id) => adapters[id]!()))
  return new Map(rows.map((row) => [row.id, row]))
}
