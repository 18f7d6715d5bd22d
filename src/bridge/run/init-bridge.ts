import { realpathSync } from 'node:fs'
import type { Io } from '../../client/io.ts'
import { readProfiles } from '../../client/profile-file.ts'
import { profilesOf, readRecords } from '../../config-files/record.ts'
import { meaningOf } from '../../words/receipts.ts'
import type { AdapterId, AdapterRow, Adapters } from '../adapter.ts'
import { configPath } from '../config/config-file.ts'
import { type FirstConfig, firstConfig, writeFirstConfig } from '../config/first-config.ts'
import { rowsOf } from '../config/open-config.ts'
import type { LocalClients } from '../local/clients.ts'
import { AdapterHost } from './adapter-host.ts'

/** Writes a first configuration: of the profiles, the harnesses that are there, and a directory. Returns it with its path. */
export async function initBridge(
  io: Io,
  configOption: string | undefined,
  { directory, approvals }: { readonly directory: string; readonly approvals?: true | undefined },
  adapters: Adapters,
): Promise<{ readonly path: string; readonly config: FirstConfig }> {
  const path = configPath(configOption, io.env)
  const real = realpathSync(directory)
  const rows = await rowsOf(adapters, Object.keys(adapters))
  const found = await installed(strongestFirst([...rows.values()].filter(({ isOptIn }) => !isOptIn)), real, io)
  const records = [...readRecords(io.env)]
  const speakers = found.map((id) => [id, profilesOf(records.filter(([, { harness }]) => harness === id))] as const)
  const first = firstConfig(readProfiles(io), found, real, new Map(speakers))
  const config = approvals ? { agents: first.agents.map((agent) => ({ ...agent, approvals })) } : first
  writeFirstConfig(path, config)
  return { path, config }
}

/** The more steps one proves on the way to a turn, the stronger its proof. */
function strongestFirst(rows: readonly AdapterRow[]): AdapterRow[] {
  const steps = ({ proves }: AdapterRow) =>
    proves.filter((step) => ['open', 'delivered'].includes(meaningOf(step))).length
  return rows.toSorted((a, b) => steps(b) - steps(a))
}

/** The harnesses that are installed or run here. One that cannot be looked at is not. */
async function installed(rows: readonly AdapterRow[], directory: string, io: Io): Promise<AdapterId[]> {
  const looks = rows.map(async (row): Promise<AdapterId[]> => {
    const clients: LocalClients = nobody
    const options = { env: io.env, settings: {}, directories: [directory], clients, now: Date.now, note: () => {} }
    try {
      await using host = new AdapterHost({ ...options, rows: [row] })
      return (await host.look(row.id)).isThere ? [row.id] : []
    } catch {
      return []
    }
  })
  return (await Promise.all(looks)).flat()
}

/** No program of ours calls while a first configuration is written. */
const nobody = {
  attached: () => [],
  reportedConversations: () => [],
  onChange: () => () => {},
  reported: async () => undefined,
}
