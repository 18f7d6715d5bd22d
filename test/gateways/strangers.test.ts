import { expect, test } from 'vitest'
import { PostgresBus } from '../../src/cluster/bus/postgres-bus.ts'
import { ClusterMessages } from '../../src/cluster/messages.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLogger } from '../../src/logger.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { databaseUrlFor, runSql } from '../support/store.ts'
import { until } from '../support/until.ts'

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
