import { describe, expect, test } from 'vitest'
import { RedisBus } from '../../src/cluster/bus/redis-bus.ts'
import { ClusterMessages } from '../../src/cluster/messages.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLogger } from '../../src/logger/logger.ts'
import { hasRedis, redisServer } from '../support/redis.ts'
import { until } from '../support/until.ts'

function listenOn(url: string, channel: string) {
  const heard: string[] = []
  const bus = new RedisBus(url, channel, silentLogger)
  void bus.start((message) => heard.push(message))
  /** Publishes if it can. Returns how many messages have arrived until then. */
  const tell = async (message: string) => {
    await bus.publish(message).catch(() => {})
    return heard.length
  }
  return {
    heard,
    failure: () => bus.failure,
    publish: (message: string) => bus.publish(message),
    /** Resolves when this bus receives its own message. */
    ready: () =>
      until(
        () => tell('ready'),
        (count) => count > 0,
      ),
    tell,
    [Symbol.asyncDispose]: () => bus[Symbol.asyncDispose](),
  }
}

describe.runIf(hasRedis)('the bus on Redis', () => {
  // S2-5, D16
  test('everyone on the channel gets a message, also the sender, and no other channel does', async () => {
    await using redis = await redisServer()
    await redis.start()
    await using one = listenOn(redis.url, 'rouse:a')
    await using two = listenOn(redis.url, 'rouse:a')
    await using other = listenOn(redis.url, 'rouse:b')
    await Promise.all([one.ready(), two.ready(), other.ready()])
    await one.publish('hello')
    for (const { heard } of [one, two]) await until(() => heard.includes('hello'), Boolean)
    expect(other.heard).not.toContain('hello')
  })

  test('it is connected when its own messages arrive, so a start is no false alarm', async () => {
    await using redis = await redisServer()
    await redis.start()
    const heard: string[] = []
    await using bus = new RedisBus(redis.url, 'rouse:start', silentLogger)
    await bus.start((message) => heard.push(message))
    await bus.publish('mine')
    await until(
      () => heard,
      (all) => all.length > 0,
    )
    expect(heard).toEqual(['mine'])
  })

  test('strangers on the channel end no gateway', async () => {
    await using redis = await redisServer()
    await redis.start()
    await using stranger = listenOn(redis.url, 'rouse:a')
    const heard: string[] = []
    const handlers = {
      grown: (keys: readonly string[]) => {
        heard.push(...keys)
        throw new Error('not today')
      },
      changed() {},
      revoked() {},
      due() {},
      missed() {},
    }
    const bus = new RedisBus(redis.url, 'rouse:a', silentLogger)
    await using nudges = new ClusterMessages(bus, 'me', handlers, systemClock, silentLogger)
    nudges.start()
    await stranger.ready()
    for (const text of ['', 'PING', '{"from":"x","changed":[]}', '{"from":"x","grown":7}', 'x'.repeat(1_000_000)]) {
      await stranger.publish(text)
    }
    await until(
      () => stranger.publish('{"from":"x","grown":["p"]}').then(() => heard.length),
      (count) => count > 1,
    )
    expect(new Set(heard)).toEqual(new Set(['p']))
  })

  test('a Redis that is down is connected to when it is up', async () => {
    await using redis = await redisServer()
    await using bus = listenOn(redis.url, 'rouse:a')
    await expect(bus.publish('too early')).rejects.toThrow()
    await until(bus.failure, (failure) => /ECONNREFUSED.* Is the server of ROUSE_BUS_URL up/.test(failure))
    await redis.start()
    await bus.ready()
    await redis.kill()
    await expect(
      until(
        () => bus.publish('gone').then(() => true),
        (sent) => !sent,
      ),
    ).rejects.toThrow()
    await redis.start()
    const before = bus.heard.length
    await until(
      () => bus.tell('back'),
      (count) => count > before,
    )
    expect(bus.heard).not.toContain('gone')
  })
})
