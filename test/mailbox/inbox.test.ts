import { expect, test } from 'vitest'
import { type NewMail, putMail } from '../../src/mailbox/messages/put-mail.ts'
import { readInbox } from '../../src/mailbox/reading/inbox.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { openOffice } from './office.ts'

async function inboxOf(gateway: TestGateway, agent: TestAgent, query = '') {
  return (await gateway.call('GET', `/v1/inbox${query}`, undefined, { key: agent.key })).body
}
const subjects = ({ messages }: { messages: { subject: string }[] }) => messages.map(({ subject }) => subject)

async function world() {
  const clock = new FakeClock()
  const gateway = await startGateway({ env: { ROUSE_MESSAGES_PER_MINUTE: '0' }, overrides: { clock } })
  const lola = await gateway.addAgent('lola')
  const donna = await gateway.addAgent('donna')
  const send = async (subject: string, fields = {}) =>
    (await gateway.call('POST', '/v1/messages', { to: '@donna', subject, ...fields }, { key: lola.key })).body
  return { clock, gateway, lola, donna, send, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() }
}

// S4-9
test('unread mail is a queue, oldest first; all mail is a history, newest first; either can be reversed', async () => {
  await using w = await world()
  for (const subject of ['one', 'two', 'three']) await w.send(subject)
  expect(subjects(await inboxOf(w.gateway, w.donna))).toEqual(['three', 'two', 'one'])
  expect(subjects(await inboxOf(w.gateway, w.donna, '?unread=true'))).toEqual(['one', 'two', 'three'])
  expect(subjects(await inboxOf(w.gateway, w.donna, '?order=oldest'))).toEqual(['one', 'two', 'three'])
  expect(subjects(await inboxOf(w.gateway, w.donna, '?unread=true&order=newest'))).toEqual(['three', 'two', 'one'])
  const [first] = (await inboxOf(w.gateway, w.donna, '?unread=true')).messages
  await w.gateway.call('POST', `/v1/messages/${first.messageId}/status`, { status: 'seen' }, { key: w.donna.key })
  expect(subjects(await inboxOf(w.gateway, w.donna, '?unread=true'))).toEqual(['two', 'three'])
})

test('reading unread mail page by page misses nothing that arrives or is read meanwhile', async () => {
  await using w = await world()
  for (let n = 0; n < 5; n++) await w.send(`m${n}`)
  const seen: string[] = []
  let page = await inboxOf(w.gateway, w.donna, '?unread=true&limit=2')
  for (let late = 0; ; late++) {
    for (const { messageId, subject } of page.messages) {
      seen.push(subject)
      await w.gateway.call('POST', `/v1/messages/${messageId}/status`, { status: 'acked' }, { key: w.donna.key })
    }
    if (late < 2) await w.send(`late${late}`)
    if (!page.nextPageToken) break
    page = await inboxOf(w.gateway, w.donna, `?unread=true&limit=2&pageToken=${page.nextPageToken}`)
  }
  expect(seen).toEqual(['m0', 'm1', 'm2', 'm3', 'm4', 'late0', 'late1'])
})

test('by thread, by signal, by type, and since an instant', async () => {
  await using w = await world()
  const first = await w.send('plain')
  w.clock.advance(60_000)
  const later = new Date(w.clock.now()).toISOString()
  await w.send('question', { type: 'question' })
  await w.send('signal', { signalType: 'deploy.done' })
  await w.send('in thread', { inReplyTo: first.messageId })
  for (const [query, expected] of [
    [`?thread=${first.threadId}`, ['in thread', 'plain']],
    [`?thread=${first.threadId}&order=oldest&limit=1`, ['plain']],
    ['?signalType=deploy.done', ['signal']],
    ['?type=question', ['question']],
    ['?type=msg', ['in thread', 'signal', 'plain']],
    ['?type=handoff', []],
    [`?since=${later}`, ['in thread', 'signal', 'question']],
    [`?since=${later}&type=msg&unread=true`, ['signal', 'in thread']],
    [`?since=${later}&signalType=none`, []],
  ] as const) {
    expect([query, subjects(await inboxOf(w.gateway, w.donna, query))]).toEqual([query, expected])
  }
})

test.each([
  ['?since=yesterday', 'since'],
  ['?unread=maybe', 'unread'],
  ['?limit=0', 'limit'],
  ['?type=letter', 'type'],
  ['?pageToken=1', 'pageToken'],
  ['?color=red', 'color'],
])('%s is refused by the name of its field', async (query, field) => {
  await using w = await world()
  expect(await inboxOf(w.gateway, w.donna, query)).toMatchObject({ status: 400, field })
})

// S1-26
test('the inbox of another agent needs a grant, except for the operator', async () => {
  await using w = await world()
  await w.send('for donna')
  const read = (key?: string) => w.gateway.call('GET', '/v1/inbox?agent=donna', undefined, key ? { key } : {})
  expect((await read(w.lola.key)).body).toMatchObject({ status: 403, field: 'agent' })
  expect(subjects((await read()).body)).toEqual(['for donna'])
  expect(subjects((await read(w.donna.key)).body)).toEqual(['for donna'])
  const grant = { grantee: 'lola', scope: 'CAN_READ_INBOX_OF' }
  await w.gateway.call('POST', '/v1/permissions', grant, { key: w.donna.key })
  expect(subjects((await read(w.lola.key)).body)).toEqual(['for donna'])
  expect((await w.gateway.call('GET', '/v1/inbox?agent=nobody')).status).toBe(404)
})

test('the three-thousandth message arrives in order, once, for every page size and filter', async () => {
  await using office = await openOffice('lola', 'donna')
  const { db } = office
  const count = 3_000
  const agentId = office.caller('donna').id
  for (let sent = 0; sent < count; sent += 1_000) {
    await db.transaction(async (tx) => {
      for (let n = sent; n < sent + 1_000; n++) await putMail(tx, mailTo(agentId, n % 100 === 0 ? 'rare' : null))
    })
  }
  for (const [signalType, expected] of [
    [undefined, count],
    ['rare', count / 100],
  ] as const) {
    const seen: string[] = []
    for (let after: string | undefined; ; after = seen.at(-1)) {
      const page = await readInbox(db, {
        agentId,
        signalType,
        unread: true,
        order: 'oldest',
        after,
        limit: 200,
      })
      seen.push(...page.mails.map(({ message }) => message.id))
      if (!page.more) break
    }
    expect(seen).toEqual([...new Set(seen)].sort())
    expect(seen).toHaveLength(expected)
  }
})

function mailTo(agentId: string, signalType: string | null): NewMail {
  return {
    projectId: 'default',
    from: '@gateway',
    senderId: 'gateway',
    subject: 'x',
    signalType,
    wakePolicy: 'immediate',
    recipients: [{ id: agentId, wakePolicy: 'immediate' }],
  }
}
