import { join } from 'node:path'
import { dataDirectory } from '../../support/data-directory.ts'
import { startGateway } from '../../support/gateway.ts'
import { run } from '../terminal.ts'

/** A gateway, a directory for files, and the commands on both. */
export async function teamDesk() {
  const gateway = await startGateway({ env: { ROUSE_WEBHOOK_ALLOW: '127.0.0.0/8' } })
  const directory = dataDirectory()
  const env = { ROUSE_URL: gateway.url, ROUSE_KEY: gateway.adminKey }
  const keys = join(directory.path, 'keys')
  return {
    gateway,
    directory: directory.path,
    env,
    keys,
    /** Applies a text from standard input. */
    apply: (text: string, ...argv: string[]) => run(['apply', '-', ...argv], env, { stdin: () => text }),
    exported: async (...argv: string[]) => (await run(['export', ...argv], env)).stdout,
    /** The newest number of the log: nothing that changes anything leaves it as it is. */
    logHead: async () => (await gateway.call('GET', '/v1/events?since=0&limit=1000')).body.lastLogId as number,
    subscriptions: async () => (await gateway.call('GET', '/v1/wake-subscriptions')).body.subscriptions,
    [Symbol.asyncDispose]: async () => {
      await gateway[Symbol.asyncDispose]()
      directory[Symbol.dispose]()
    },
  }
}
