import { expect, test } from 'vitest'
import type { Clock } from '../../src/lib/clock.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'
import { logLines } from '../support/log-lines.ts'
import { databaseUrlFor } from '../support/store.ts'
import { until } from '../support/until.ts'
import { encryptionKey } from './two-gateways.ts'

// The attack: a second gateway starts on a machine whose clock is six minutes ahead, or six days.
test.each([6 * 60_000, 6 * 24 * 3_600_000])(
  'a gateway whose clock is %i ms ahead ends nothing that is others',
  async (ms) => {
    using store = dataDirectory()
    const env = {
      ROUSE_DATABASE_URL: (await databaseUrlFor(store.path)) as string,
      ROUSE_ENCRYPTION_KEY: encryptionKey,
      ROUSE_RETENTION_DAYS: '1',
    }
    await using right = await startGateway({ env })
    const donna = await right.addAgent('donna')
    const { body: key } = await right.call(
      'POST',
      '/v1/agents/donna/keys',
      { expiresInSeconds: 300 },
      { key: donna.key },
    )
    await right.call('POST', '/v1/sessions', { surface: 'cli', pid: 1 }, { key: donna.key })

    const timers = new FakeClock(Date.now())
    const set = { aheadMs: ms }
    const clock: Clock = { now: () => Date.now() + set.aheadMs, after: (delayMs, work) => timers.after(delayMs, work) }
    const { log, of } = logLines()
    await using wrong = await startGateway({ env, overrides: { clock, storeClock: 'own', log } })
    const isReady = async () => (await wrong.call('GET', '/readyz')).status === 200
    expect(await wrong.call('GET', '/readyz')).toMatchObject({
      status: 503,
      body: { status: 'not-ready', store: true, writes: true, dispatcher: true, clock: false },
    })
    // Every sweep has several turns. A loop that has had its turn waits on a timer again.
    const { timerCount } = timers
    for (let turn = 0; turn < 5; turn++) {
      timers.advance(60_000)
      await until(
        () => timers.timerCount,
        (count) => count >= timerCount,
      )
    }
    expect(of('gateway.clock_wrong')).toMatchObject([{ level: 'error' }])
    expect(Math.abs(of('gateway.clock_wrong')[0]!.offsetMs - ms)).toBeLessThan(5_000)
    for (const event of ['gateway.taken_over', 'key.expired', 'session.timed_out', 'retention.pruned']) {
      expect(of(event), event).toEqual([])
    }
    expect((await right.call('GET', '/v1/whoami', undefined, { key: key.apiKey })).status).toBe(200)
    const { body } = await right.call('GET', '/v1/sessions', undefined, { key: donna.key })
    expect(body.sessions).toHaveLength(1)
    expect((await right.call('GET', '/readyz')).status).toBe(200)

    set.aheadMs = 0
    timers.advance(3_000)
    await until(isReady, Boolean)
    expect(of('gateway.clock_right')).toHaveLength(1)
  },
)
