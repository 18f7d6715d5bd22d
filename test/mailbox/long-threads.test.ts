import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { type InboxQuery, readInbox } from '../../src/mailbox/reading/inbox.ts'
import { readThreadPage } from '../../src/mailbox/reading/read-mail.ts'
import { type Caller, operator } from '../../src/registry/callers/caller.ts'
import type { Database } from '../../src/storage/database.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { spyOn } from '../support/spy-reader.ts'
import { besideStore, openStore } from '../support/store.ts'

interface Mail {
  readonly id: string
  readonly threadId: string
  readonly projectId: string
  readonly senderId: string
  readonly recipientId: string
  readonly status: string
  readonly type: string
  readonly signalType: string | null
}

const agents = ['ada', 'ben', 'cleo']
const stranger = 'stranger'
const types = ['msg', 'task', 'question', 'msg', 'handoff']
const idOf = (n: number): string => `MESSAGE:${String(n).padStart(6, '0')}`
const threads = [idOf(0), idOf(1), idOf(2)]
const mails: Mail[] = []

let directory: ReturnType<typeof dataDirectory>
let db: Database

beforeAll(async () => {
  directory = dataDirectory()
  db = await openStore(directory.path, systemClock)
  await insertMany(1_200)
})
afterAll(async () => {
  await db.close()
  directory[Symbol.dispose]()
})

/** Nearly all of it is between two of the agents. */
function makeMail(n: number): Mail {
  const isRare = n % 37 === 5
  return {
    id: idOf(n),
    threadId: n < threads.length ? idOf(n) : threads[n % 13 === 0 ? 1 : n % 29 === 0 ? 2 : 0]!,
    projectId: n % 6 === 0 ? 'south' : 'default',
    senderId: isRare ? 'cleo' : agents[n % 2]!,
    recipientId: isRare ? agents[n % 2]! : n % 41 === 0 ? 'cleo' : agents[(n + 1) % 2]!,
    status: n % 3 === 0 ? 'sent' : 'seen',
    type: types[n % 7 === 0 ? 2 : n % 5]!,
    signalType: n % 17 === 0 ? 'rare' : n % 4 === 0 ? 'often' : null,
  }
}

async function insertMany(count: number): Promise<void> {
  const added = Array.from({ length: count }, (_, index) => makeMail(mails.length + index))
  const messages = added.map(
    ({ id, projectId, senderId, threadId }) =>
      `('${id}', '${projectId}', '${senderId}', 's', 'normal', 'silent', '[]', 1, '${threadId === id ? '' : threadId}')`,
  )
  await besideStore(
    directory.path,
    `insert into message (id, project_id, sender_id, subject, priority, wake_policy, tagged_concepts, created_at, thread_id)
      values ${messages.join()}`,
  )
  const recipients = added.map(
    ({ id, recipientId, status, type, signalType }) =>
      `('${recipientId}', '${id}', '${status}', 1, '${type}', ${signalType === null ? 'null' : `'${signalType}'`})`,
  )
  await besideStore(
    directory.path,
    `insert into message_recipient (agent_id, message_id, status, updated_at, type, signal_type) values ${recipients.join()}`,
  )
  mails.push(...added)
}

const callerOf = (id: string): Caller =>
  id === operator.id ? operator : { ...operator, kind: 'agent', id, identity: `@${id}`, keyId: 'key' }

/** All pages of a thread. `entries`: how many messages one statement looks at. */
async function threadFor(id: string, threadId: string, limit: number, entries: number, between?: () => Promise<void>) {
  const ids: string[] = []
  for (;;) {
    const { mails, more } = await readThreadPage(db, callerOf(id), threadId, ids.at(-1) ?? '', limit, entries)
    expect(mails.length).toBeLessThanOrEqual(limit)
    ids.push(...mails.map(({ message }) => message.id))
    if (!more) return ids
    expect(mails).toHaveLength(limit)
    await between?.()
  }
}

function visible(id: string, threadId: string): string[] {
  const isVisible = ({ senderId, recipientId, projectId }: Mail): boolean =>
    id === operator.id ? projectId === operator.projectId : senderId === id || recipientId === id
  return mails.filter((mail) => mail.threadId === threadId && isVisible(mail)).map((mail) => mail.id)
}

test('the pages of a thread have exactly what the caller may see, in order, whatever one statement looks at', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...agents, operator.id),
      fc.constantFrom(...threads),
      fc.integer({ min: 20, max: 60 }),
      fc.constantFrom(7, 50, 1_000),
      async (id, threadId, limit, entries) => {
        expect(await threadFor(id, threadId, limit, entries)).toEqual(visible(id, threadId))
      },
    ),
    { numRuns: 12 },
  )
})

test('the pages of an inbox have exactly what matches, in order, for all filters', async () => {
  const query = fc.record(
    {
      threadId: fc.constantFrom(...threads),
      unread: fc.constant(true),
      type: fc.constantFrom(...(['msg', 'task', 'question', 'answer'] as InboxQuery['type'][])),
      signalType: fc.constantFrom('rare', 'often', 'none'),
    },
    { requiredKeys: [] },
  )
  const owner = fc.constantFrom(...agents)
  const order = fc.constantFrom('oldest', 'newest')
  const limits = fc.integer({ min: 5, max: 60 })
  await fc.assert(
    fc.asyncProperty(
      query,
      owner,
      order,
      limits,
      fc.constantFrom(7, 50, 1_000),
      async (given, agentId, order, limit, entries) => {
        const ids: string[] = []
        for (let more = true; more; ) {
          const page = await readInbox(db, { ...given, agentId, order, limit, after: ids.at(-1) }, entries)
          ids.push(...page.mails.map(({ message }) => message.id))
          more = page.more
        }
        const wanted = mails.filter(
          (mail) =>
            mail.recipientId === agentId &&
            (given.threadId === undefined || mail.threadId === given.threadId) &&
            (given.unread === undefined || mail.status === 'sent') &&
            (given.type === undefined || mail.type === given.type) &&
            (given.signalType === undefined || mail.signalType === given.signalType),
        )
        const inOrder = wanted.map(({ id }) => id).sort()
        expect(ids).toEqual(order === 'oldest' ? inOrder : inOrder.reverse())
      },
    ),
    { numRuns: 60 },
  )
})

test('mail that a caller may not see is looked at in steps, and a short thread with two statements', async () => {
  const threadId = threads[0]!
  const length = mails.filter((mail) => mail.threadId === threadId).length
  const long = spyOn(db)
  await expect(readThreadPage(long.reader, callerOf(stranger), threadId, '', 50, 50)).rejects.toMatchObject({
    code: 'thread-not-found',
  })
  expect(length).toBeGreaterThan(1_000)
  expect(long.seen.statements).toBeGreaterThanOrEqual((2 * length) / 50 - 2)
  expect(long.seen.most).toBe(100)
  const short = spyOn(db)
  await expect(readThreadPage(short.reader, callerOf(stranger), threads[1]!, '', 50)).rejects.toThrow()
  expect(short.seen.statements).toBe(2)
  const inbox = spyOn(db)
  const query = { threadId, agentId: stranger, order: 'newest', limit: 10 } as const
  expect((await readInbox(inbox.reader, query, 50)).mails).toEqual([])
  expect(inbox.seen.most).toBe(100)
  const types = spyOn(db)
  const rare = {
    type: 'msg',
    unread: true,
    signalType: 'none',
    agentId: 'ada',
    order: 'newest',
    limit: 10,
  } as const
  expect((await readInbox(types.reader, rare, 50)).mails).toEqual([])
  expect(types.seen.statements).toBe(2)
})

test('mail that arrives while a thread is read comes at its end, once', async () => {
  let arrivals = 0
  const between = async (): Promise<void> => {
    if (arrivals++ < 3) await insertMany(40)
  }
  const ids = await threadFor('cleo', threads[0]!, 5, 20, between)
  expect(arrivals).toBeGreaterThan(3)
  expect(ids).toEqual(visible('cleo', threads[0]!))
})
