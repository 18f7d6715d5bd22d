import { expect, test } from 'vitest'
import { Journal } from '../../../src/bridge/journal/journal.ts'
import { type AttemptParts, attempt } from '../../../src/bridge/run/attempt.ts'
import { StepWatch } from '../../../src/bridge/run/step-watch.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { dataDirectory } from '../../support/data-directory.ts'
import { FakeHarness } from './fake-harness.ts'

test('where the record of a hand-over cannot be written, nothing is handed over', async () => {
  using home = dataDirectory()
  using journal = Journal.open({ path: `${home.path}/state/bridge.db`, now: Date.now, note: () => {} })
  const harness = new FakeHarness()
  harness.set({ cwd: home.path })
  const row = harness.row()
  const adapter = row.create({} as never)
  const wake = { eventType: 'wake/sent_to_me', eventId: '01KABCDEFGHJKMNPQRSTVWXY00', payload: {} }
  const record = journal.accept({ id: wake.eventId, agent: '@donna', subscriptionId: 'WAKE_SUB:1', sender: null })!
  const full = Object.assign(Object.create(journal) as Journal, {
    handOver() {
      throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
    },
  })
  const parts: AttemptParts = {
    journal: full,
    gateway: { call: async () => ({ answer: 'start', turnId: null }) } as never,
    adapter: () => adapter,
    row: () => row,
    choose: async () => ({ kind: 'one', session: harness.sessions[0]! }),
    lookFor: async () => undefined,
    watch: new StepWatch(systemClock, 1_000, () => {}),
    senders: [],
    guard: () => undefined,
    report: () => {},
    now: Date.now,
    patienceMs: 1_000,
    signal: new AbortController().signal,
  }
  expect(await attempt(wake, record, parts)).toMatchObject({
    step: 'held',
    reason: 'cannot_start_turn',
    detail: 'the journal cannot be written: database or disk is full',
  })
  expect(harness.turns).toEqual([])
  expect(journal.find(wake.eventId, '@donna')?.handedOverAt).toBeNull()
})
