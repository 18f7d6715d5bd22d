import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { retentionSweep } from '../../src/gateway/retention.ts'
import { removeAgent } from '../../src/identity/remove-agent.ts'
import { newTaskId } from '../../src/lib/ids.ts'
import { silentLogger } from '../../src/logger/logger.ts'
import { type MailArchive, openMailArchive } from '../../src/mailbox/archive.ts'
import { drain } from '../../src/mailbox/delivery/drain.ts'
import { findMessage } from '../../src/mailbox/messages/message-store.ts'
import { reportStatus } from '../../src/mailbox/reading/report-status.ts'
import { pruneMessages } from '../../src/mailbox/retention.ts'
import { sendMail } from '../../src/mailbox/sending/send-mail.ts'
import { recordMail } from '../../src/mailbox/sending/task-mail.ts'
import { operator } from '../../src/registry/callers/caller.ts'
import type { SessionContext } from '../../src/sessions/context.ts'
import { sql, statement } from '../../src/storage/statement.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { type Office, openOffice } from './office.ts'

const eventCount = statement<object, { count: number }>(sql`select count(*) as "count" from event`)
const dayMs = 24 * 60 * 60 * 1000
const prune = (office: Office) => pruneMessages(office.db, office.clock.now(), 30 * dayMs, new AbortController().signal)
const left = async (office: Office, ...messageIds: string[]) =>
  (await Promise.all(messageIds.map((id) => findMessage(office.db, id)))).map((message) => message !== undefined)

// S2-19
test('delivered mail is removed after thirty days, undelivered mail is kept for ever', async () => {
  await using office = await openOffice('lola', 'donna', 'mike')
  const handed = (await office.send('lola', { to: '@donna', subject: 'handed' })).message.id
  const waiting = (await office.send('lola', { to: '@mike', subject: 'waiting' })).message.id
  await office.db.transaction((tx) => drain(tx, office.caller('donna').id, 's'))
  office.clock.advance(29 * dayMs)
  expect(await prune(office)).toBe(0)
  office.clock.advance(2 * dayMs)
  expect(await prune(office)).toBe(1)
  expect(await left(office, handed, waiting)).toEqual([false, true])
  office.clock.advance(400 * dayMs)
  expect(await prune(office)).toBe(0)
  expect(await office.db.transaction((tx) => drain(tx, office.caller('mike').id, 's'))).toHaveLength(1)
})

// S2-19
test('delivered mail is archived before it is removed, with what its recipient did', async () => {
  await using office = await openOffice('lola', 'donna')
  using directory = dataDirectory()
  const archive = openMailArchive(join(directory.path, 'archive'))!
  const pruneInto = (into: MailArchive) =>
    pruneMessages(office.db, office.clock.now(), 30 * dayMs, new AbortController().signal, into)
  const { id, createdAt } = (await office.send('lola', { to: '@donna', subject: 'one', body: 'the text' })).message
  await reportStatus(office.context, office.caller('donna'), id, 'resolved')
  office.clock.advance(31 * dayMs)
  const full = { keep: () => Promise.reject(new Error('ENOSPC')) }
  await expect(pruneInto(full)).rejects.toThrow('ENOSPC')
  expect(await left(office, id)).toEqual([true])
  const name = `mail-${new Date(createdAt).toISOString().slice(0, 7)}.jsonl`
  const file = join(directory.path, 'archive', name)
  mkdirSync(join(directory.path, 'archive'))
  writeFileSync(file, '{"half')
  expect(await pruneInto(archive)).toBe(1)
  expect(await left(office, id)).toEqual([false])
  const [, line] = readFileSync(file, 'utf8').split('\n')
  expect(JSON.parse(line!)).toMatchObject({
    id,
    subject: 'one',
    body: 'the text',
    recipients: [{ handle: '@donna', status: 'resolved' }],
  })
})

test('when the archive cannot be written, everything except mail is pruned, and the sweep fails with that error', async () => {
  await using office = await openOffice('lola', 'donna')
  const { id } = (await office.send('lola', { to: '@donna', subject: 'one' })).message
  await reportStatus(office.context, office.caller('donna'), id, 'resolved')
  const events = () => office.db.get(eventCount, {})
  expect((await events())?.count).toBeGreaterThan(0)
  office.clock.advance(31 * dayMs)
  const archive = { keep: () => Promise.reject(new Error('ENOSPC')) }
  const retention = { eventsMs: dayMs, deliveriesMs: dayMs, messagesMs: 30 * dayMs, auditMs: dayMs, archive }
  const sweep = retentionSweep({ ...office.context, log: silentLogger }, retention)
  await expect(sweep.run(new AbortController().signal)).rejects.toThrow('ENOSPC')
  expect(await left(office, id)).toEqual([true])
  expect((await events())?.count).toBe(0)
})

test('a broadcast is removed after it was delivered to its last recipient, or the last recipient was removed', async () => {
  await using office = await openOffice('lola', 'donna', 'mike')
  const { id } = (await office.send('lola', { to: '*', subject: 'all' })).message
  await reportStatus(office.context, office.caller('donna'), id, 'seen')
  office.clock.advance(31 * dayMs)
  expect(await prune(office)).toBe(0)
  const sessions = { changed() {} } as unknown as SessionContext
  await removeAgent({ ...office.context, revoked() {}, sessions }, operator, '@mike')
  expect(await prune(office)).toBe(1)
  expect(await left(office, id)).toEqual([false])
})

test('a thread outlives its first message', async () => {
  await using office = await openOffice('lola', 'donna')
  const { id } = (await office.send('lola', { to: '@donna', subject: 'first' })).message
  await reportStatus(office.context, office.caller('donna'), id, 'resolved')
  office.clock.advance(31 * dayMs)
  const reply = (await office.send('donna', { inReplyTo: id, body: 'late' })).message
  expect(await prune(office)).toBe(1)
  const next = (await office.send('lola', { inReplyTo: reply.id, body: 'thanks' })).message
  expect(next.threadId).toBe(id)
})

test('a removal of many is many small steps', async () => {
  await using office = await openOffice('lola', 'donna')
  const { db } = office
  const context = office.limited({ perMinute: 0, stormTurns: 0, stormMessages: 0 })
  await Promise.all(
    Array.from({ length: 1_200 }, () => sendMail(context, office.caller('lola'), { to: '@donna', subject: 'x' })),
  )
  for (let n = 0; n < 3; n++) await db.transaction((tx) => drain(tx, office.caller('donna').id, 's'))
  office.clock.advance(31 * dayMs)
  expect(await prune(office)).toBe(1_200)
})

test('mail of a task follows the same rule', async () => {
  await using office = await openOffice('lola', 'donna')
  const { event } = await office.db.transaction((tx) =>
    recordMail(tx, {
      sender: office.caller('lola'),
      recipientId: office.caller('donna').id,
      projectId: 'default',
      subject: 'task',
      taskId: newTaskId(office.clock.now()),
      taskSeq: 1,
      priority: 'normal',
      wakePolicy: 'immediate',
      taggedConcepts: [],
    }),
  )
  await reportStatus(office.context, office.caller('donna'), String(event.data.messageId), 'acked')
  office.clock.advance(31 * dayMs)
  await prune(office)
  expect(await left(office, String(event.data.messageId))).toEqual([false])
})

// S2-19
test('counters are removed a day after they limit nobody', async () => {
  await using office = await openOffice('lola', 'donna')
  const count = statement<object, { rows: number }>(sql`select count(*) as "rows" from bucket`)
  const rows = async () => Number((await office.db.get(count, {}))?.rows)
  await office.send('lola', { to: '@donna', subject: 'x' })
  // Of the project, lola, the two of them, and donna.
  expect(await rows()).toBe(4)
  office.clock.advance(dayMs)
  await office.send('donna', { to: '@lola', subject: 'x' })
  expect(await rows()).toBe(6)
  office.clock.advance(1_000)
  await prune(office)
  expect(await rows()).toBe(4)
  office.clock.advance(2 * dayMs)
  await prune(office)
  expect(await rows()).toBe(0)
})
