import fc from 'fast-check'
import { expect, test } from 'vitest'
import { drain } from '../../src/mailbox/delivery/drain.ts'
import { takePiggyback } from '../../src/mailbox/delivery/piggyback.ts'
import { returnToWaiting, returnUnshown } from '../../src/mailbox/delivery/return-to-waiting.ts'
import { piggyback, strategies, strategyOf, wake } from '../../src/mailbox/delivery/strategies.ts'
import { readInbox } from '../../src/mailbox/reading/inbox.ts'
import { reportStatus } from '../../src/mailbox/reading/report-status.ts'
import { insertSubscription } from '../../src/registry/subscriptions/subscription-store.ts'
import { subscription } from '../contract/wake-inputs.ts'
import { type Office, openOffice } from './office.ts'

const drainOf = (office: Office, handle: string, session = `session-${handle}`) =>
  office.db.transaction((tx) => drain(tx, office.caller(handle).id, session))
const askOf = (office: Office, handle: string) => takePiggyback(office.context, office.caller(handle).id)
const inboxOf = async (office: Office, handle: string) =>
  (await readInbox(office.db, { agentId: office.caller(handle).id, order: 'oldest', limit: 200 })).mails
const ids = (signals: readonly { signal_id: string }[]) => signals.map(({ signal_id }) => signal_id)

// S2-4, S2-11
test('mail for an agent without a session waits, and its next start drains it once', async () => {
  await using office = await openOffice('lola', 'donna')
  const first = await office.send('lola', {
    to: '@donna',
    signalType: 'ReviewRequested',
    payload: { spec_id: 'S', instructions: 'x' },
  })
  await office.send('lola', { to: '@donna', subject: 'second', body: 'text' })
  expect(await askOf(office, 'donna')).toEqual([])
  const drained = await drainOf(office, 'donna')
  expect(drained).toMatchObject([
    { signal_id: first.message.id, signal_type: 'ReviewRequested' },
    { subject: 'second', body: 'text' },
  ])
  expect(await drainOf(office, 'donna')).toEqual([])
  expect((await inboxOf(office, 'donna')).map(({ recipient }) => recipient)).toMatchObject([
    { status: 'sent', deliveryMethod: 'startup_drain', receipt: 'written', deliveredAt: office.clock.now() },
    { status: 'sent', deliveryMethod: 'startup_drain', sessionId: 'session-donna' },
  ])
})

// S2-8
test('a pending signal has the fields of the wire by their names', async () => {
  await using office = await openOffice('lola', 'donna')
  office.enter('lola', 'claude_desktop')
  office.enter('donna', 'claude_desktop')
  const question = await office.send('lola', { to: '@donna', subject: 'Well?' })
  await askOf(office, 'donna')
  const payload = { spec_id: 'SPEC-033', summary: '…', gaps: ['§5'], recommendation: 'Accept' }
  const answered = await office.send('donna', {
    inReplyTo: question.message.id,
    signalType: 'ReviewCompleted',
    payload,
    ref: 'docs/a.md',
  })
  office.clock.advance(1_000)
  expect(await askOf(office, 'lola')).toEqual([
    {
      signal_id: answered.message.id,
      signal_type: 'ReviewCompleted',
      from: '@donna',
      from_identity: '@donna',
      from_session: 'session-donna',
      to_identity: '@lola',
      payload,
      in_reply_to: question.message.id,
      created_at: '2026-04-26T10:00:00.000Z',
      received_at: '2026-04-26T10:00:01.000Z',
      thread_id: question.message.id,
      type: 'msg',
      subject: 'ReviewCompleted: SPEC-033: …',
      body: null,
      ref: 'docs/a.md',
      priority: 'normal',
      taggedConcepts: [],
      task_id: null,
    },
  ])
  expect(answered.recipients).toMatchObject([{ sessionId: 'session-lola', receipt: 'routed' }])
})

// S2-11: sessions racing to drain
test('concurrent drains and calls deliver each message once, and the rows record the route', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 30 }),
      fc.array(fc.constantFrom('drain', 'answer'), { minLength: 2, maxLength: 8 }),
      async (count, racers) => {
        await using office = await openOffice('lola', 'donna')
        office.enter('donna', 'cursor')
        const sent = await Promise.all(
          Array.from({ length: count }, (_, n) => office.send('lola', { to: '@donna', subject: `m${n}` })),
        )
        const handed = await Promise.all(
          racers.map((how, n) => (how === 'drain' ? drainOf(office, 'donna', `s${n}`) : askOf(office, 'donna'))),
        )
        expect(ids(handed.flat()).sort()).toEqual(sent.map(({ message }) => message.id).sort())
        for (const { recipient } of await inboxOf(office, 'donna')) {
          const winner = handed.findIndex((signals) => ids(signals).includes(recipient.messageId))
          const how = racers[winner] === 'drain' ? 'startup_drain' : 'piggyback'
          expect(recipient).toMatchObject({ deliveryMethod: how, receipt: 'written', status: 'sent' })
        }
        expect(await drainOf(office, 'donna')).toEqual([])
      },
    ),
    { numRuns: 15 },
  )
})

// S1-15
test('silent mail is only in the inbox; mail for the next turn piggybacks', async () => {
  await using office = await openOffice('lola', 'donna')
  office.enter('donna', 'cursor')
  await office.send('lola', { to: '@donna', subject: 'quiet', wakePolicy: 'silent' })
  await office.send('lola', { to: '@donna', subject: 'next', wakePolicy: 'next_turn' })
  expect((await askOf(office, 'donna')).map(({ subject }) => subject)).toEqual(['next'])
  expect(await drainOf(office, 'donna')).toEqual([])
  expect((await inboxOf(office, 'donna')).map(({ message }) => message.subject)).toEqual(['quiet', 'next'])
})

test('no route delivers what its recipient has already marked as seen', async () => {
  await using office = await openOffice('lola', 'donna')
  office.enter('donna', 'cursor')
  const { message } = await office.send('lola', { to: '@donna', subject: 'seen already' })
  await reportStatus(office.context, office.caller('donna'), message.id, 'seen')
  expect(await askOf(office, 'donna')).toEqual([])
  expect(await drainOf(office, 'donna')).toEqual([])
})

test('mail of an answer that was never written waits again, unless its recipient has reported a status since', async () => {
  await using office = await openOffice('lola', 'donna')
  office.enter('donna', 'cursor')
  for (const subject of ['one', 'two']) await office.send('lola', { to: '@donna', subject })
  const lost = await askOf(office, 'donna')
  await reportStatus(office.context, office.caller('donna'), lost[1]!.signal_id, 'acked')
  await returnToWaiting(office.db, office.caller('donna').id, ids(lost))
  expect((await askOf(office, 'donna')).map(({ subject }) => subject)).toEqual(['one'])
})

test('an answer has at most fifty messages and 256,000 characters; the next one has the rest', async () => {
  await using office = await openOffice('lola', 'donna')
  office.enter('donna', 'cursor')
  for (let n = 0; n < 60; n++) await office.send('lola', { to: '@donna', subject: `m${n}` })
  expect((await askOf(office, 'donna')).length).toBe(50)
  expect((await askOf(office, 'donna')).length).toBe(10)
  for (const subject of ['large', 'larger', 'small']) {
    const body = 'x'.repeat(subject === 'small' ? 10 : 200_000)
    await office.send('lola', { to: '@donna', subject, body })
  }
  const answers: string[][] = []
  for (let n = 0; n < 3; n++) answers.push((await askOf(office, 'donna')).map(({ subject }) => subject))
  expect(answers).toEqual([['large'], ['larger', 'small'], []])
})

// S2-13, D9: one wake for each recipient and message
test('on a surface that wakes reach, mail is left to its wake for a minute, and then piggybacks', async () => {
  await using office = await openOffice('lola', 'donna')
  const { id } = office.caller('donna')
  office.enter('donna', 'claude_code')
  await office.db.transaction((tx) =>
    insertSubscription(tx, { ...subscription, agentId: id, audience: id, filters: { priority: 'high' } }),
  )
  await office.send('lola', { to: '@donna', subject: 'woken for', priority: 'high' })
  await office.send('lola', { to: '@donna', subject: 'no wake takes it' })
  await office.send('lola', { to: '@donna', subject: 'for the next turn', priority: 'high', wakePolicy: 'next_turn' })
  const handed = (await askOf(office, 'donna')).map(({ subject }) => subject)
  expect(handed).toEqual(['no wake takes it', 'for the next turn'])
  office.clock.advance(60_000)
  expect((await askOf(office, 'donna')).map(({ subject }) => subject)).toEqual(['woken for'])
})

// S2-16, S2-21: a surface chooses its strategy
test('the surface chooses the strategy, and an unknown surface piggybacks', () => {
  const known = Object.fromEntries(Object.keys(strategies).map((surface) => [surface, strategies[surface]!.usesWakes]))
  expect(known).toMatchObject({ claude_code: true, claude_desktop: false, codex: true, cursor: false })
  expect(Object.keys(known).filter((surface) => known[surface])).toEqual(['claude_code', 'codex'])
  expect(strategyOf(strategies, 'zed')).toBe(piggyback)
  expect(strategyOf(strategies, 'toString')).toBe(piggyback)
  expect(strategyOf(strategies, 'claude_code')).toBe(wake)
})

// S2-21: one strategy for a new surface
test('a new surface needs one strategy and one entry', async () => {
  await using office = await openOffice('lola', 'donna')
  const onceAnHour = { usesWakes: false, mayPiggyback: ({ now }: { now: number }) => now % 3_600_000 === 0 }
  const context = { ...office.context, strategies: { ...strategies, carrier_pigeon: onceAnHour } }
  office.enter('donna', 'carrier_pigeon')
  office.clock.advance(60_000)
  await office.send('lola', { to: '@donna', subject: 'coo' })
  expect(await takePiggyback(context, office.caller('donna').id)).toEqual([])
  office.clock.advance(59 * 60_000)
  expect(await takePiggyback(context, office.caller('donna').id)).toHaveLength(1)
})

// S2-14
test('mail that was not shown is returned by the session that got it, for a minute, unless a status was reported', async () => {
  await using office = await openOffice('lola', 'donna')
  const sessionId = 'session-donna'
  office.enter('donna', 'cursor', sessionId)
  for (const subject of ['one', 'two', 'three']) await office.send('lola', { to: '@donna', subject })
  const [one, two, three] = ids(await askOf(office, 'donna'))
  const { id } = office.caller('donna')
  await reportStatus(office.context, office.caller('donna'), two!, 'acked')
  expect(await returnUnshown(office.db, id, 'another', [one!])).toEqual([])
  expect(await returnUnshown(office.db, office.caller('lola').id, sessionId, [one!])).toEqual([])
  expect(await returnUnshown(office.db, id, sessionId, [one!, one!, two!, 'MESSAGE:none'])).toEqual([one])
  expect((await askOf(office, 'donna')).map(({ subject }) => subject)).toEqual(['one'])
  await office.clock.advance(60_001)
  expect(await returnUnshown(office.db, id, sessionId, [one!, three!])).toEqual([])
})
