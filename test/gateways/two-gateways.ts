import { createHash } from 'node:crypto'
import { dataDirectory } from '../support/data-directory.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { databaseUrlFor } from '../support/store.ts'

export const encryptionKey = createHash('sha256').update('of these tests').digest('base64')

interface TwoGateways extends AsyncDisposable {
  /** Whose directory the store belongs to. */
  readonly dataDir: string
  readonly a: TestGateway
  readonly b: TestGateway
  /** One more on the same store. */
  start(env?: Record<string, string>): Promise<TestGateway>
}

/** Two gateways on one PostgreSQL, each with a data directory of its own, as on two machines. */
export async function startTwo(env: Record<string, string> = {}): Promise<TwoGateways> {
  const store = dataDirectory()
  const databaseUrl = (await databaseUrlFor(store.path)) as string
  const started: TestGateway[] = []
  const start = async (more: Record<string, string> = {}) => {
    const common = { ROUSE_DATABASE_URL: databaseUrl, ROUSE_ENCRYPTION_KEY: encryptionKey }
    const gateway = await startGateway({ env: { ...common, ...env, ...more } })
    started.push(gateway)
    return gateway
  }
  return {
    dataDir: store.path,
    a: await start(),
    b: await start(),
    start,
    async [Symbol.asyncDispose]() {
      for (const gateway of started) await gateway[Symbol.asyncDispose]()
      store[Symbol.dispose]()
    },
  }
}
