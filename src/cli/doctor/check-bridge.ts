import { existsSync } from 'node:fs'
import { configPath } from '../../bridge/config/config-file.ts'
import { openConfig } from '../../bridge/config/open-config.ts'
import { askStatus } from '../../bridge/local/ask-bridge.ts'
import type { AgentStatus, BridgeStatus, HarnessStatus, WakeStatus } from '../../bridge/run/status.ts'
import { UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import { adapters } from '../../harnesses/adapters.ts'
import { broken, type Check, ok, unknown } from '../../harnesses/check.ts'
import { servicePaths } from '../service/service-record.ts'

const shownMax = 3

/** Checks the bridge. Empty where this user has none: no configuration, no service, and none runs. */
export async function checkBridge(io: Io): Promise<Check[]> {
  const services = servicePaths(io.env)
  const running = (await askStatus(io.env)) as BridgeStatus | undefined
  const isConfigured = existsSync(configPath(undefined, io.env))
  if (running === undefined && !isConfigured && services.length === 0) return []
  const configuration = await checkConfiguration(io)
  const service = services.map((path) =>
    existsSync(path) ? ok('service', path) : broken('service', `${path} is missing`, 'rouse install --bridge'),
  )
  return [configuration, ...service, ...(running ? bridgeChecks(running) : [idle(configuration, services)])]
}

async function checkConfiguration(io: Io): Promise<Check> {
  try {
    const { config } = await openConfig(io, undefined, adapters)
    const names = config.agents.map(({ profile }) => profile.identity).join(', ')
    return ok('configuration', `${config.path}: ${names}`)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    const [first = '', ...more] = error.message.split('\n')
    return broken(
      'configuration',
      [first, ...more.map((line) => line.trim())].join(' '),
      'Correct it, or: rouse bridge init',
    )
  }
}

function idle({ state }: Check, services: readonly string[]): Check {
  const mend =
    services.length > 0
      ? 'rouse install --bridge   (starts its service again)'
      : 'rouse bridge, or as a service: rouse install --bridge'
  return state === 'ok' ? broken('bridge', 'does not run', mend) : unknown('bridge', 'does not run')
}

/** Returns the report of a running bridge as checks: the bridge, each agent, each harness, and the remedy for a stronger proof. Pure. */
export function bridgeChecks({ pid, startedAt, agents, harnesses }: BridgeStatus): Check[] {
  const runs = ok('bridge', `runs as process ${pid}, since ${startedAt}`)
  const wakes = agents.flatMap(({ last }) => last)
  return [runs, ...agents.flatMap(agentChecks), ...harnesses.flatMap((harness) => harnessChecks(harness, wakes))]
}

function agentChecks({
  agent,
  gateway,
  state,
  reason,
  held,
  turnsLastHour,
  turnsAnHour,
  profile,
}: AgentStatus): Check[] {
  const why = reason === undefined ? '' : `: ${reason}`
  const turns = `${turnsLastHour} of ${turnsAnHour} turns in the last hour`
  const name = `agent ${agent}`
  const checks: Record<AgentStatus['state'], () => Check> = {
    connected: () => ok(name, `reads its wakes from ${gateway}; ${turns}`),
    connecting: () => unknown(name, `is not connected to ${gateway} yet${why}`),
    left: () => broken(name, `its wakes go to another bridge${why}`, 'Stop the other one, and restart this one'),
    stopped: () =>
      broken(name, `is woken here no more${why}`, `rouse login --profile ${profile}, and restart the bridge`),
    'not running': () => unknown(name, `is not run${why}`),
  }
  const waits = held === undefined ? [] : [unknown('held wake', `${held.wakeId} since ${held.since}: ${held.reason}`)]
  return [checks[state](), ...waits]
}

function harnessChecks(harness: HarnessStatus, wakes: readonly WakeStatus[]): Check[] {
  const { title, isThere, version, remarks, conversations } = harness
  const [last] = wakes.filter((wake) => wake.harness === harness.harness).sort((a, b) => b.at.localeCompare(a.at))
  const proof = last === undefined ? 'no wake yet' : `last proof: ${last.step}${detailOf(last)} at ${last.at}`
  const what = version === undefined ? title : `${title} ${version}`
  const found = isThere
    ? ok(title, `${what}: ${conversationsText(conversations)}; ${proof}`)
    : unknown(title, `was not found; ${proof}`)
  const own = conversations.flatMap(({ remark, conversationId }) =>
    remark === undefined ? [] : [unknown(title, `${conversationId}: ${remark}`)],
  )
  return [found, ...remarks.map((remark) => unknown(title, remark)), ...own]
}

function conversationsText(conversations: HarnessStatus['conversations']): string {
  if (conversations.length === 0) return 'no conversation'
  const shown = conversations.slice(0, shownMax).map(({ cwd, conversationId, state, route }) => {
    return `${cwd ?? conversationId} is ${state}, ${route === undefined ? 'cannot be reached' : `by ${route}`}`
  })
  const more = conversations.length > shownMax ? [`and ${conversations.length - shownMax} more`] : []
  return [
    `${conversations.length} ${conversations.length === 1 ? 'conversation' : 'conversations'}: ${shown[0]}`,
    ...shown.slice(1),
    ...more,
  ].join(', ')
}

function detailOf({ detail }: WakeStatus): string {
  return detail === undefined ? '' : ` (${detail})`
}
