import { expect, test } from 'vitest'
import { LogNotifier } from '../../src/log/log-notifier.ts'
import { MailWaits } from '../../src/mailbox/delivery/mail-waits.ts'
import { takePiggyback } from '../../src/mailbox/delivery/piggyback.ts'
import type { Database } from '../../src/storage/database.ts'
import { Iterations } from '../support/iterations.ts'
import { until } from '../support/until.ts'
import { openOffice } from './office.ts'

/** Waits for the mail of donna, who has a session. `reads` counts how often her mail is read. */
async function openWaits() {
  const office = await openOffice('lola', 'donna')
  office.enter('donna', 'cursor')
  const donna = office.caller('donna')
  const notifier = new LogNotifier()
  const store = { reads: 0, isBroken: false }
  const db: Database = {
    ...office.db,
    transaction: (work) => office.db.transaction(work),
    get: (...asked) => (store.isBroken ? Promise.reject(new Error('no store')) : office.db.get(...asked)),
    all: (...asked) => {
      store.reads++
      return office.db.all(...asked)
    },
  }
  const context = { ...office.context, db, notifier }
  const waits = new MailWaits(context)
  return {
    office,
    notifier,
    store,
    ring: () => notifier.invalidate([donna.id]),
    /** A wait that is over after `timeoutMs`, or when `gone` aborts. */
    wait: (timeoutMs = 50_000, gone = new AbortController()) =>
      waits.untilMail(donna, { timeoutMs, signal: gone.signal }),
    take: () => waits.inTurn(donna.id, () => takePiggyback(context, donna.id)),
    /** Lets the clock run until something has come. */
    async running<Result>(awaited: Promise<Result>): Promise<Result> {
      let isOver = false
      const end = (): void => {
        isOver = true
      }
      void awaited.then(end, end)
      while (!isOver) {
        office.clock.advance(100)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      return awaited
    },
    /** Resolves when her mail was read so often, and nothing reads it again in the next moments. */
    async wasRead(times: number): Promise<void> {
      await until(
        () => store.reads,
        (reads) => reads >= times,
      )
      await new Promise((resolve) => setTimeout(resolve, 50))
    },
    [Symbol.asyncDispose]: () => office[Symbol.asyncDispose](),
  }
}

test('four hundred waits of one agent read its mail once for each notification', async () => {
  await using opened = await openWaits()
  const { office, store, notifier } = opened
  for (let n = 0; n < 10; n++) {
    await office.send('lola', { to: '@donna', body: 'x'.repeat(5_000), wakePolicy: 'next_turn' })
  }
  const gone = Array.from({ length: 400 }, () => new AbortController())
  const waiting = gone.map((each) => opened.wait(50_000, each))
  // One for the first of them, one for those who joined it.
  await opened.running(opened.wasRead(2))
  expect(notifier.listenerCount).toBe(1)
  opened.ring()
  await opened.running(opened.wasRead(3))
  expect(store.reads).toBe(3)
  for (const each of gone) each.abort()
  await Promise.all(waiting)
  expect([notifier.listenerCount, office.clock.timerCount]).toEqual([0, 0])
})

test('waits of one agent that end together take in turn: the first has the mail, and the others read none', async () => {
  await using opened = await openWaits()
  const { office, store } = opened
  const order: number[] = []
  const answers = Array.from({ length: 100 }, async (_, index) => {
    await opened.wait()
    order.push(index)
    return opened.take()
  })
  await office.send('lola', { to: '@donna', subject: 'Hello' })
  using iterations = new Iterations()
  opened.ring()
  const taken = await opened.running(Promise.all(answers))
  expect(order).toEqual(Array.from({ length: 100 }, (_, index) => index))
  expect(taken[0]).toMatchObject([{ subject: 'Hello' }])
  expect(taken.slice(1).flat()).toEqual([])
  // One look or two, and one answer.
  expect(store.reads).toBeLessThanOrEqual(3)
  expect(iterations.count).toBeGreaterThanOrEqual(100)
})

test('a wait that joins others finds mail that they were not notified of', async () => {
  await using opened = await openWaits()
  const others = [opened.wait(), opened.wait()]
  await opened.office.send('lola', { to: '@donna', subject: 'Hello' })
  await opened.running(Promise.all([...others, opened.wait()]))
})

test('each wait ends at its own time-out, and the others go on', async () => {
  await using opened = await openWaits()
  const began = opened.office.clock.now()
  const [short, long] = [opened.wait(1_000), opened.wait(20_000)]
  await opened.running(short)
  await opened.office.send('lola', { to: '@donna', subject: 'Hello' })
  opened.ring()
  await opened.running(long)
  expect(opened.office.clock.now() - began).toBeLessThan(20_000)
})

test('when the store fails, the waits fail that shared the look, and later ones look again', async () => {
  await using opened = await openWaits()
  opened.store.isBroken = true
  const failed = await opened.running(Promise.allSettled([opened.wait(), opened.wait()]))
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  opened.store.isBroken = false
  await opened.office.send('lola', { to: '@donna', subject: 'Hello' })
  await opened.running(opened.wait())
})
