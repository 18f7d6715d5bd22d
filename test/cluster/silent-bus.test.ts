import { describe, inject, test } from 'vitest'
import type { Bus } from '../../src/cluster/bus/bus.ts'
import { PostgresBus } from '../../src/cluster/bus/postgres-bus.ts'
import { RedisBus } from '../../src/cluster/bus/redis-bus.ts'
import { ClusterMessages } from '../../src/cluster/messages.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLogger } from '../../src/logger/logger.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { hasRedis, redisServer } from '../support/redis.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { advanceUntil } from '../wakes/acts.ts'

/** A gateway on a bus whose open connections go silent gets the messages of another one again, over new connections. */
async function outlivesSilence(target: string, open: (url: string) => Bus): Promise<void> {
  const url = new URL(target)
  await using proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) })
  url.port = String(proxy.port)
  const clock = new FakeClock()
  const heard: string[] = []
  const handlers = {
    grown: (keys: readonly string[]) => heard.push(...keys),
    changed() {},
    revoked() {},
    due() {},
    missed() {},
  }
  await using messages = new ClusterMessages(open(url.href), 'me', handlers, clock, silentLogger)
  messages.start()
  await using peer = open(target)
  await peer.start(() => {})
  // A test message has half a second of the machine's time to come back.
  const hears = (key: string) =>
    advanceUntil(
      clock,
      50,
      () => peer.publish(JSON.stringify({ from: 'peer', grown: [key] })).then(() => heard),
      (keys) => keys.includes(key),
    )
  await hears('before')
  proxy.silenceOpen()
  await hears('after')
  await advanceUntil(
    clock,
    50,
    () => messages.isAlive,
    (isAlive) => isAlive,
  )
}

const databaseUrl = inject('databaseUrl')

test.runIf(databaseUrl)('the bus on PostgreSQL opens another connection when the one that it has goes silent', () =>
  outlivesSilence(databaseUrl!, (url) => new PostgresBus(url, 'rouse_silent', systemClock, silentLogger)),
)

// It is the same whatever the store is.
describe.runIf(hasRedis && databaseUrl === undefined)('the bus on Redis', () => {
  test('opens other connections when those that it has go silent', async () => {
    await using redis = await redisServer()
    await redis.start()
    await outlivesSilence(redis.url, (url) => new RedisBus(url, 'rouse:silent', silentLogger))
  })
})
