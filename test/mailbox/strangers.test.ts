import { expect, test } from 'vitest'
import { sendMail } from '../../src/mailbox/sending/send-mail.ts'
import { registerAgent } from '../../src/registry/agents/agents.ts'
import { type Caller, operator } from '../../src/registry/callers/caller.ts'
import { insertPermission } from '../../src/registry/permissions/permission-store.ts'
import { ensureProject } from '../../src/registry/projects/project-store.ts'
import { endSession, insertSession } from '../../src/registry/sessions/session-store.ts'
import type { Database, Reader, Transaction } from '../../src/storage/database.ts'
import { type Office, openOffice } from './office.ts'

/** The answers that reached the gateway from its store: rows, those within write transactions among them, and how many of these there were. */
interface Counted {
  rows: number
  rowsInside: number
  transactions: number
}

/** A store that counts what is read from it. */
function counting(db: Database): { db: Database; counted: Counted } {
  const counted: Counted = { rows: 0, rowsInside: 0, transactions: 0 }
  const note = (count: number, isInside: boolean) => {
    counted.rows += count
    if (isInside) counted.rowsInside += count
  }
  const reading = (reader: Reader, isInside: boolean): Reader => ({
    async all(statement, params) {
      const rows = await reader.all(statement, params)
      note(rows.length, isInside)
      return rows
    },
    async get(statement, params) {
      const row = await reader.get(statement, params)
      note(row === undefined ? 0 : 1, isInside)
      return row
    },
  })
  const writing = (tx: Transaction): Transaction => ({
    ...reading(tx, true),
    now: tx.now,
    hasWritten: tx.hasWritten,
    run: (statement, params) => tx.run(statement, params),
    onCommit: (work) => tx.onCommit(work),
    beforeCommit: (closing, item) => tx.beforeCommit(closing, item),
  })
  const counter: Database = {
    isRemote: db.isRemote,
    ...reading(db, false),
    transaction: (work) => {
      counted.transactions += 1
      return db.transaction((tx) => work(writing(tx)))
    },
    size: () => db.size(),
    place: () => db.place(),
    close: () => db.close(),
    [Symbol.asyncDispose]: () => db.close(),
  }
  return { db: counter, counted }
}

/** A project of many agents, each with a live session that can do the same. */
async function enrolCrowd({ db, context }: Office, project: string, size: number): Promise<Caller[]> {
  await ensureProject(db, project)
  const enrol = async (n: number): Promise<Caller> => {
    const input = { handle: `worker${n}`, project, access: n % 2 === 0 ? ('private' as const) : ('project' as const) }
    const { agent } = await registerAgent({ ...context, revoked() {} }, operator, input)
    await db.transaction((tx) => insertSession(tx, sessionOf(agent.id, project, n)))
    return { ...operator, kind: 'agent', id: agent.id, identity: agent.handle, projectId: project, keyId: 'key' }
  }
  return Promise.all(Array.from({ length: size }, (_, n) => enrol(n)))
}

const sessionOf = (agentId: string, projectId: string, n: number) => ({
  id: `session_00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
  projectId,
  agentId,
  surface: 'codex',
  capabilities: ['has-telegram'],
  pid: null,
  processStartedAt: null,
  state: 'idle' as const,
  source: 'unknown' as const,
  activeTurnId: null,
  presenceAt: null,
  lastSeenAt: 0,
  actedAt: 0,
  contextTokens: null,
  createdAt: 0,
  endedAt: null,
  endReason: null,
  successorId: null,
  keyId: null,
  cwd: null,
  harnessSessionId: null,
})

const farAddresses = [
  'web:*',
  'web:all',
  'web:has-telegram',
  'web:s000007',
  'web:nobody',
  'web:@worker0',
  'web:worker1',
]

// The attack: mallory belongs to another project, and each of its letters makes the gateway read all agents or sessions of this one
// while every other writer waits.
test('mail of a stranger reads nothing of a project, however many agents it has, and takes no write transaction', async () => {
  await using office = await openOffice('mallory')
  await enrolCrowd(office, 'web', 60)
  const { db, counted } = counting(office.db)
  const refusals = new Map<string, unknown>()
  for (const to of farAddresses) {
    const sent = sendMail({ ...office.context, db }, office.caller('mallory'), { to, subject: 'Hi' })
    refusals.set(to, await sent.catch(({ code, message }) => ({ code, message })))
  }
  // Only the agent that is not private is found by its name, twice: `@worker0` is hidden, `worker1` is refused.
  expect(counted).toEqual({ rows: 1, rowsInside: 0, transactions: 0 })
  expect([...refusals.values()].map((refusal) => (refusal as { code: string }).code)).toEqual([
    'forbidden',
    'forbidden',
    ...new Array(4).fill('agent-not-found'),
    'forbidden',
  ])

  const elsewhere = async (to: string) => {
    const sent = sendMail(office.context, office.caller('mallory'), { to: to.replace('web', 'nowhere'), subject: 'Hi' })
    return sent.catch(({ code, message }) => ({ code, message: message.replaceAll('nowhere', 'web') }))
  }
  for (const to of farAddresses.slice(0, -1)) expect(await elsewhere(to), to).toEqual(refusals.get(to))
})

test('of another project only the agents are read that have granted the sender something', async () => {
  await using office = await openOffice('mike')
  const workers = await enrolCrowd(office, 'web', 60)
  const mike = office.caller('mike')
  const grant = (n: number, scope: string) =>
    office.db.transaction(async (tx) => {
      const ids = { id: `grant-${n}`, grantorId: workers[n]!.id, granteeId: mike.id }
      await insertPermission(tx, { ...ids, projectId: 'web', scope, keyId: '', createdAt: tx.now })
    })
  await grant(7, 'CAN_REPLY_TO')
  const { db, counted } = counting(office.db)
  const send = async (to: string) => {
    const { recipients } = await sendMail({ ...office.context, db }, mike, { to, subject: 'Hi' })
    return recipients.map(({ agent }) => agent)
  }
  for (const to of ['web:*', 'web:has-telegram', 'web:s000007', 'web:@worker7'])
    expect(await send(to)).toEqual(['@worker7'])
  expect(counted.transactions).toBe(4)
  // Each letter is looked up twice, and stored, counted and read again.
  expect(counted.rows).toBeLessThan(4 * 12)

  // Another scope makes an agent known, and opens it to no mail.
  await grant(9, 'CAN_READ_INBOX_OF')
  expect(await send('web:*')).toEqual(['@worker7'])
  await expect(send('web:has-telegram')).rejects.toMatchObject({
    code: 'ambiguous-address',
    extra: { candidates: ['@worker7', '@worker9'] },
  })
  await expect(send('web:s000009')).rejects.toMatchObject({ code: 'forbidden' })
  await expect(send('web:s000008')).rejects.toMatchObject({ code: 'agent-not-found' })
})

// The attack: mallory mistypes a name of its own project, and each time all live sessions are read while every other writer waits.
test('a name that no agent and no session has is refused before the write transaction, and brings no session with it', async () => {
  await using office = await openOffice('mallory')
  await enrolCrowd(office, 'default', 60)
  const { db, counted } = counting(office.db)
  const send = (to: string) => sendMail({ ...office.context, db }, office.caller('mallory'), { to, subject: 'Hi' })
  for (const to of ['has-telegra', 'has_telegram', '%', 'tele%', 'ünknown', 's999999', '"', '\\']) {
    await expect(send(to), to).rejects.toMatchObject({ code: 'agent-not-found' })
  }
  // Of the name with a letter that the engines do not compare alike, all sessions are compared here.
  expect(counted).toEqual({ rows: 60, rowsInside: 0, transactions: 0 })
})

test('a repeat gets its first result, although its address names nobody any more', async () => {
  await using office = await openOffice('mike')
  const [worker] = await enrolCrowd(office, 'default', 1)
  const { db, context } = office
  const idempotency = { key: 'k', fingerprint: 'f' }
  const send = (to: string) =>
    sendMail({ ...context, db }, office.caller('mike'), { to, subject: 'Hi' }, { idempotency })
  const first = await send('has-telegram')
  await db.transaction(async (tx) => {
    await endSession(tx, sessionOf(worker!.id, 'default', 0).id, 'ended')
  })
  expect((await send('has-telegram')).message.id).toBe(first.message.id)
  await expect(sendMail(context, office.caller('mike'), { to: 'has-telegram', subject: 'Hi' })).rejects.toMatchObject({
    code: 'agent-not-found',
  })
})
