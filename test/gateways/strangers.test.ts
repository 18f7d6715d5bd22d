import pg from 'pg'
import { afterEach, expect, test, vi } from 'vitest'
import { PostgresBus } from '../../src/cluster/bus/postgres-bus.ts'
import { ClusterMessages } from '../../src/cluster/messages.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLogger } from '../../src/logger/logger.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { openEventStream } from '../support/event-stream.ts'
import { databaseUrlFor, runSql } from '../support/store.ts'
import { until } from '../support/until.ts'
import { startTwo } from './two-gateways.ts'

afterEach(() => void vi.restoreAllMocks())

test('any role of the database may notify the channel, and no word of it ends a gateway', async () => {
  using directory = dataDirectory()
  const url = (await databaseUrlFor(directory.path)) as string
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
  const bus = new PostgresBus(url, 'strangers', systemClock, silentLogger)
  await using nudges = new ClusterMessages(bus, 'me', handlers, systemClock, silentLogger)
  nudges.start()
  const say = (text: string) => runSql(url, 'select pg_notify($1, $2)', ['strangers', text])
  for (const text of ['', 'PING', '{"from":"x","changed":[]}', '{"from":"x","grown":7}', '{"from":"x","grown":[{}]}']) {
    await say(text)
  }
  await until(
    () => say('{"from":"x","grown":["p"]}').then(() => heard.length),
    (count) => count > 1,
  )
  expect(new Set(heard)).toEqual(new Set(['p']))
})

test('a forged message revokes nobody: keys work, and streams stay open', async () => {
  const queries = vi.spyOn(pg.Client.prototype, 'query')
  await using two = await startTwo()
  const { a, b } = two
  const listens = queries.mock.calls.map(([text]) => /^listen "(.+)"$/.exec(String(text))?.[1])
  const channel = listens.find((found) => found !== undefined)
  const donna = await a.addAgent('donna')
  const { keys } = (await a.call('GET', '/v1/agents/donna/keys')).body
  const { operatorKey, keyId } = (await a.call('POST', '/v1/operator-keys', { role: 'viewer' })).body
  await using stream = await openEventStream(`${b.url}/v1/events`, { authorization: `Bearer ${donna.key}` })
  const [agentId] = (await runSql(await storeOf(two.dataDir), 'select id from agent')).map(({ id }) => String(id))
  const revoked = ['operator', 'admin', keyId, keys[0].keyId, agentId]
  await runSql(await storeOf(two.dataDir), 'select pg_notify($1, $2)', [
    channel,
    JSON.stringify({ from: 'evil', grown: [], changed: [], revoked }),
  ])
  await a.call('POST', '/v1/messages', { to: '@donna', subject: 'still there' })
  expect((await stream.take(1)).at(-1)).toMatchObject({ data: { type: 'message.sent' } })
  for (const key of [donna.key, operatorKey, a.adminKey]) {
    for (const gateway of [a, b]) expect((await gateway.call('GET', '/v1/whoami', undefined, { key })).status).toBe(200)
    const waits = await b.call('GET', '/v1/agents', undefined, { key })
    expect(waits.status).toBe(200)
  }
})

async function storeOf(dataDir: string): Promise<string> {
  return (await databaseUrlFor(dataDir)) as string
}
