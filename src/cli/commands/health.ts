import type { Command } from 'commander'
import { ownFetch } from '../../client/client-fetch.ts'
import { Refused, Unreachable } from '../../client/failure.ts'
import { createGatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import { createPrinter } from '../../client/printer.ts'
import { gatewayUrl } from '../options/gateway-address.ts'
import { integer } from '../options/option-values.ts'
import { commonOptions, jsonOption, withExamples } from '../run/client-command.ts'

/** Exits with 0 where a gateway can take work, else with 1: what health checks of containers expect. */
export function registerHealth(parent: Command, io: Io): void {
  const command = parent.command('health [url]').description('exit with 0 if the gateway is ready, else with 1')
  withExamples(command, [
    'rouse health && echo ready',
    'rouse health https://rouse.example --timeout 2',
    'rouse health || systemctl restart rouse',
    'rouse health --json | jq .status',
  ])
    .option('--timeout <seconds>', 'how long to wait for an answer', integer(1, 60), 3)
    .addOption(jsonOption())
    .action(async (url: string | undefined, options: { timeout: number }, command: Command) => {
      const named = url ?? (io.env.ROUSE_URL || undefined)
      const address = gatewayUrl(named ?? ownUrl(io.env), io.env)
      const fetch = named === undefined ? (io.fetch ?? ownFetch) : io.fetch
      const gateway = createGatewayClient({ url: address, credentials: async () => ({}), fetch, signal: io.signal })
      try {
        const state = await gateway.request('GET', '/readyz', { timeoutMs: options.timeout * 1000 })
        // Without --json a gateway that is ready is a silent success.
        createPrinter(io, commonOptions(command).json === true).result({ url: address, ...state }, () => '')
      } catch (error) {
        throw error instanceof Unreachable || error instanceof Refused ? notReady(address, error) : error
      }
    })
}

/** The address of a gateway with this environment: a container's check runs in the same container. */
function ownUrl(env: Io['env']): string {
  const host = env.ROUSE_HOST?.trim() || '127.0.0.1'
  const reachable = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[host] ?? (host.includes(':') ? `[${host}]` : host)
  return `${env.ROUSE_TLS_CERT?.trim() ? 'https' : 'http'}://${reachable}:${env.ROUSE_PORT?.trim() || 4520}`
}

/** One line, because `docker inspect` shows it. */
function notReady(url: string, error: Refused | Unreachable): Error {
  const reason = error instanceof Unreachable ? error.message.split('\n')[0] : `${url} is not ready${lackText(error)}.`
  return new Error(reason, { cause: error })
}

/** Returns the missing parts of a gateway that is not ready: `/readyz` names them. A proxy before it answers with a status only. */
export function lackText({ problem }: Refused): string {
  const missing = Object.keys(problem).filter((name) => problem[name] === false && name !== 'clock')
  const faults = [
    ...(missing.length > 0 ? [`${missing.join(' and ')} down`] : []),
    ...(problem.clock === false ? ['its clock is wrong'] : []),
  ]
  if (faults.length > 0) return `: ${faults.join(', ')}`
  return typeof problem.status === 'number' ? `: it answered ${problem.status}` : ''
}
