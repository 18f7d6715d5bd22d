import { existsSync } from 'node:fs'
import { configPath } from '../../bridge/config/config-file.ts'
import { openConfig } from '../../bridge/config/open-config.ts'
import { askStatus } from '../../bridge/local/ask-status.ts'
import type { BridgeStatus } from '../../bridge/run/status.ts'
import { UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import { adapters } from '../../harnesses/adapters.ts'
import { broken, type Check, ok, unknown } from '../../harnesses/check.ts'
import { servicePaths } from '../service/service-record.ts'
import { bridgeChecks } from './bridge-checks.ts'

/** What of the bridge is there and works. Empty where this user has none: no configuration, no service, and none runs. */
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
