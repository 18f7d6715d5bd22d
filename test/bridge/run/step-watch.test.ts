import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { WakeTools } from '../../../src/bridge/adapter.ts'
import { Journal } from '../../../src/bridge/journal/journal.ts'
import { type AttemptParts, attempt } from '../../../src/bridge/run/attempt.ts'
import { StepWatch } from '../../../src/bridge/run/step-watch.ts'
import { dataDirectory } from '../../support/data-directory.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { until } from '../../support/until.ts'
import { FakeHarness } from './fake-harness.ts'

/** A wake whose adapter hangs, and a clock that a test sets. */
function open(home: string, onWake: FakeHarness['onWake']) {
  const clock = new FakeClock()
  const late: string[] = []
  const now = () => clock.now()
  const journal = Journal.open({ path: join(home, 'state', 'bridge.db'), now, note: () => {} })
  const watch = new StepWatch(clock, 1_000, (step) => {
    late.push(step)
    journal.account.late('@donna', step)
  })
  const harness = new FakeHarness()
  harness.set({ cwd: home })
  harness.onWake = onWake
  const row = harness.row()
  const adapter = row.create({} as never)
  const wake = { eventType: 'wake/sent_to_me', eventId: '01KABCDEFGHJKMNPQRSTVWXY00', payload: {} }
  const record = journal.accept({ id: wake.eventId, agent: '@donna', subscriptionId: 'WAKE_SUB:1', sender: null })!
  const parts: AttemptParts = {
    journal,
    gateway: { call: async () => ({ answer: 'start', turnId: null }) } as never,
    adapter: () => adapter,
    row: () => row,
    choose: async () => ({ kind: 'one', session: harness.sessions[0]! }),
    lookFor: async () => undefined,
    watch,
    senders: [],
    guard: () => undefined,
    report: () => {},
    now,
    patienceMs: 1_000,
    signal: new AbortController().signal,
  }
  return { clock, late, journal, run: () => attempt(wake, record, parts) }
}

test('an adapter that never answers does not stop the wakes: the step is late, and nothing is handed over later', async () => {
  using home = dataDirectory()
  let tools: WakeTools | undefined
  const { clock, late, journal, run } = open(home.path, (_session, _wake, given) => {
    tools = given
    return new Promise(() => {})
  })
  using _closed = journal
  const ended = run()
  await until(
    () => tools,
    (given) => given !== undefined,
  )
  clock.advance(4 * 60_000)
  expect(late).toEqual([])
  clock.advance(60_000)
  expect(await ended).toMatchObject({ step: 'held', detail: 'the step "hand over" has not ended within 300 s' })
  expect(journal.account.of('@donna').late).toEqual([{ step: 'hand over', count: 1 }])
  // It comes back to life.
  await expect(tools!.handingOver('queue')).rejects.toThrow('has not ended')
  expect(journal.find('01KABCDEFGHJKMNPQRSTVWXY00', '@donna')).toMatchObject({ handedOverAt: null })
})

test('a wake that was handed over and of which nothing more comes is unknown, and is not handed over again', async () => {
  using home = dataDirectory()
  let isHanded = false
  const { clock, late, journal, run } = open(home.path, async (_session, _wake, tools) => {
    await tools.handingOver('queue')
    isHanded = true
    return new Promise(() => {})
  })
  using _closed = journal
  const ended = run()
  await until(
    () => isHanded,
    (is) => is,
  )
  clock.advance(24 * 3_600_000)
  expect(late).toEqual([])
  clock.advance(2 * 3_600_000)
  expect(await ended).toMatchObject({ step: 'unknown' })
  expect(late).toEqual(['turn'])
})
