import type { Io } from '../../client/io.ts'
import type { Adapters } from '../adapter.ts'
import { openConfig } from '../config/open-config.ts'
import { Journal } from '../journal/journal.ts'
import { journalPath } from '../journal/journal-path.ts'
import { askStatus } from '../local/ask-bridge.ts'
import type { BridgeStatus } from './status.ts'
import { agentStatus } from './status-of.ts'

const minuteMs = 60_000

/** Returns the report of the bridge about itself; where none runs, that of its configuration and its journal. Errors: of the configuration. */
export async function readStatus(io: Io, configOption: string | undefined, adapters: Adapters): Promise<BridgeStatus> {
  const running = await askStatus(io.env)
  if (running !== undefined) return running as BridgeStatus
  const { config } = await openConfig(io, configOption, adapters)
  const now = Date.now()
  using journal = Journal.read({ path: journalPath(io.env), now: () => now })
  return {
    isRunning: false,
    config: config.path,
    agents: config.agents.map((agent) => agentStatus(agent, undefined, journal, now)),
    harnesses: [],
    turnsLastMinute: journal?.turnsSince(undefined, now - minuteMs) ?? 0,
    maxTurnsAMinute: config.maxTurnsAMinute,
  }
}
