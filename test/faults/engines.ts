import { startPostgres } from '../support/postgres-server.ts'

/** The stores that a gateway can have. */
export const engines = ['SQLite', 'PostgreSQL'] as const
type EngineName = (typeof engines)[number]

/** A store for one gateway, named by its environment. */
export async function openStore(engine: EngineName): Promise<AsyncDisposable & { env: Record<string, string> }> {
  if (engine === 'SQLite') return { env: {}, async [Symbol.asyncDispose]() {} }
  const postgres = await startPostgres()
  return { env: { ROUSE_DATABASE_URL: postgres.url }, [Symbol.asyncDispose]: () => postgres.stop() }
}
