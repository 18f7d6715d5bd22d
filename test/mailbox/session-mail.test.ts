import { expect, test } from 'vitest'
import { drain } from '../../src/mailbox/delivery/drain.ts'
import { takePiggyback } from '../../src/mailbox/delivery/piggyback.ts'
import { returnToWaiting } from '../../src/mailbox/delivery/return-to-waiting.ts'
import { takeSessionMail } from '../../src/mailbox/delivery/session-mail.ts'
import { findUnread, hasUnread } from '../../src/mailbox/delivery/unread.ts'
import { createAnnounce } from '../../src/mailbox/sending/announce.ts'
import { insertEvents } from '../support/insert-events.ts'
import { type Office, openOffice } from './office.ts'

/** An office in which Donna's session `old` has been preempted just now. */
async function openPreempted() {
  const office = await openOffice('donna', 'mike')
  office.enter('donna', 'cursor', 'new')
  const announce = createAnnounce(insertEvents, async () => [])
  const payload = { preempted_by: '@donna', new_master_session: 'new' }
  const to = { toAgentId: office.caller('donna').id, toSessionId: 'old' }
  await office.db.transaction((tx) =>
    announce(tx, { projectId: 'default', signalType: 'MasterPreempted', payload, ...to }),
  )
  return { office, old: { id: 'old', endedAt: office.clock.now() } }
}

const take = ({ db, caller }: Office, session: { id: string; endedAt: number }, handle = 'donna') =>
  takeSessionMail(db, caller(handle).id, session)

// D26
test('mail to a session is taken by that session once, however many of its calls race', async () => {
  const { office, old } = await openPreempted()
  await using _ = office
  expect(await take(office, { ...old, id: 'new' })).toEqual([])
  expect(await take(office, old, 'mike')).toEqual([])
  const taken = await Promise.all(Array.from({ length: 10 }, () => take(office, old)))
  expect(taken.flat()).toMatchObject([{ signal_type: 'MasterPreempted', from: '@gateway', to_identity: '@donna' }])
})

// D26
test('no drain and no other answer takes it, also after its own answer was not read', async () => {
  const { office, old } = await openPreempted()
  await using _ = office
  const { db, context } = office
  const { id } = office.caller('donna')
  const others = async () => [
    ...(await db.transaction((tx) => drain(tx, id, 'new'))),
    ...(await takePiggyback(context, id)),
  ]
  expect(await others()).toEqual([])
  const [signal] = await take(office, old)
  await returnToWaiting(db, id, [signal!.signal_id])
  expect(await others()).toEqual([])
  expect(await take(office, old)).toMatchObject([{ signal_id: signal!.signal_id }])
})

// D26, D29
test('it is no unread mail of the agent', async () => {
  const { office } = await openPreempted()
  await using _ = office
  const { id } = office.caller('donna')
  expect(await hasUnread(office.db, id)).toBe(false)
  expect(await findUnread(office.db, id)).toEqual({ messageIds: new Set(), oldestAt: null })
})
