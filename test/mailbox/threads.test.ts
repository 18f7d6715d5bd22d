import { expect, test } from 'vitest'
import { firstMailOf, newTaskId } from '../../src/lib/ids.ts'
import { findMessage } from '../../src/mailbox/messages/message-store.ts'
import { readInbox } from '../../src/mailbox/reading/inbox.ts'
import { readThreadPage } from '../../src/mailbox/reading/read-mail.ts'
import { recordMail } from '../../src/mailbox/sending/task-mail.ts'
import { openOffice } from './office.ts'

test('a thread is paged with its first message first, in both directions of an inbox', async () => {
  await using office = await openOffice('lola', 'donna')
  const first = (await office.send('lola', { to: '@donna', subject: 'first' })).message.id
  const ids = [first]
  for (const n of [1, 2, 3]) {
    office.clock.advance(1)
    ids.push((await office.send('lola', { to: '@donna', subject: `reply ${n}`, inReplyTo: first })).message.id)
  }
  await office.send('lola', { to: '@donna', subject: 'another thread' })
  const page = async (after: string) =>
    (await readThreadPage(office.db, office.caller('donna'), first, after, 2)).mails.map(({ message }) => message.id)
  expect(await page('')).toEqual(ids.slice(0, 2))
  expect(await page(ids[1]!)).toEqual(ids.slice(2))
  const inbox = async (order: 'oldest' | 'newest', after?: string) => {
    const query = { agentId: office.caller('donna').id, threadId: first, order, limit: 3, after }
    return (await readInbox(office.db, query)).mails.map(({ message }) => message.id)
  }
  expect(await inbox('oldest')).toEqual(ids.slice(0, 3))
  expect(await inbox('newest')).toEqual(ids.slice(1).reverse())
  expect(await inbox('newest', ids[1])).toEqual([first])
  expect((await findMessage(office.db, first))?.threadId).toBe(first)
})

test('the first mail of a task has the id of the task, and each later one answers the one before it', async () => {
  await using office = await openOffice('lola', 'donna')
  const taskId = newTaskId(office.clock.now())
  const mail = { sender: office.caller('lola'), recipientId: office.caller('donna').id, projectId: 'default', taskId }
  const options = { subject: 's', priority: 'normal', wakePolicy: 'immediate', taggedConcepts: [] } as const
  const sent: string[] = []
  for (const taskSeq of [1, 2, 3]) {
    const { event } = await office.db.transaction((tx) => recordMail(tx, { ...mail, ...options, taskSeq }))
    expect(event.data).toMatchObject({ isReplyTo: sent.at(-1) ?? null, threadId: firstMailOf(taskId) })
    sent.push(String(event.data.messageId))
  }
  expect(sent[0]).toBe(firstMailOf(taskId))
  const thread = await readThreadPage(office.db, office.caller('donna'), sent[0]!, '', 10)
  expect(thread.mails.map(({ message }) => message.id)).toEqual(sent)
})
