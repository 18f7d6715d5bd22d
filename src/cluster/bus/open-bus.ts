import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../logger/logger.ts'
import type { Bus } from './bus.ts'

/** Opens the bus over Redis if `busUrl` is set, else over the PostgreSQL of the store. Loads only the client that it needs. */
export async function openBus(
  where: { readonly busUrl: string | undefined; readonly databaseUrl: string },
  channel: string,
  clock: Clock,
  log: Logger,
): Promise<Bus> {
  if (where.busUrl !== undefined) {
    const { RedisBus } = await import('./redis-bus.ts')
    return new RedisBus(where.busUrl, channel, log)
  }
  const { PostgresBus } = await import('./postgres-bus.ts')
  return new PostgresBus(where.databaseUrl, channel, clock, log)
}
