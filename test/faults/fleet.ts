import { createHash } from 'node:crypto'
import type { ProcessClient } from '../support/process-client.ts'
import { type ProcessGateway, startProcessGateway } from '../support/process-gateway.ts'

const secret = (of: string) => createHash('sha256').update(of).digest('base64')

/** Several gateways on one PostgreSQL, each with a data directory of its own, as on several machines. */
export interface Fleet extends AsyncDisposable {
  readonly gateways: readonly ProcessGateway[]
  /** Gateways that get no more requests, like servers that a load balancer has removed because they do not answer. */
  readonly away: Set<ProcessGateway>
  /** Asks any of the others, the next one each time. */
  readonly client: ProcessClient
}

/** One gateway for each database URL: they may lead to the same server by different ways. */
export async function startFleet(databaseUrls: readonly string[]): Promise<Fleet> {
  const env = {
    ROUSE_ADMIN_KEY: `rk_${secret('admin').replaceAll(/\W/g, '')}`,
    ROUSE_ENCRYPTION_KEY: secret('encryption'),
    ROUSE_LOG_LEVEL: 'silent',
  }
  const start = (url: string) => startProcessGateway({ ...env, ROUSE_DATABASE_URL: url })
  const gateways = await Promise.all(databaseUrls.map(start))
  const away = new Set<ProcessGateway>()
  let calls = 0
  const next = (): ProcessGateway => {
    const present = gateways.filter((gateway) => !away.has(gateway))
    return present[calls++ % present.length]!
  }
  return {
    gateways,
    away,
    client: {
      url: gateways[0]!.url,
      adminKey: env.ROUSE_ADMIN_KEY,
      call: (...args) => next().call(...args),
      addAgent: (...args) => next().addAgent(...args),
      subscribe: (...args) => next().subscribe(...args),
      send: (...args) => next().send(...args),
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(gateways.map((gateway) => gateway[Symbol.asyncDispose]()))
    },
  }
}
