import { expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

const post = (gateway: TestGateway, agent: TestAgent | undefined, body: unknown, headers = {}) =>
  gateway.call('POST', '/v1/messages', body, { ...(agent ? { key: agent.key } : {}), headers })
const read = async (gateway: TestGateway, agent: TestAgent | undefined, path: string) =>
  (await gateway.call('GET', path, undefined, agent ? { key: agent.key } : {})).body

// S2-6, S2-9, S2-10, D11
test('a message is stored for a name, and counts as delivered only after a channel has reported it', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const lola = await gateway.addAgent('lola')
  const donna = await gateway.addAgent('donna')
  const sent = await post(gateway, lola, { to: '@donna', subject: 'Lunch?', body: 'At one.' })
  expect(sent.status).toBe(201)
  expect(sent.body).toEqual({
    messageId: expect.stringMatching(/^MESSAGE:/),
    threadId: sent.body.messageId,
    delivered: false,
    queued: true,
    resolvedToSession: null,
    recipients: [{ agent: '@donna', status: 'sent', receipt: 'accepted' }],
  })
  expect(sent.headers.get('location')).toBe(`/v1/messages/${sent.body.messageId}`)

  await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME', startFrom: 'now' })
  const second = await post(gateway, lola, { to: 'donna', subject: 'Dinner?' })
  // The wake may be quicker than the answer.
  const onItsWay = expect.stringMatching(/^(routed|written)$/)
  expect(second.body.recipients).toEqual([{ agent: '@donna', status: 'sent', receipt: onItsWay }])
  const [wake] = await receiver.waitFor(1)
  expect(wake!.body.payload).toEqual({
    messageId: second.body.messageId,
    from: '@lola',
    subject: 'Dinner?',
    priority: 'normal',
    taggedConcepts: [],
    isReplyTo: null,
    isBroadcast: false,
  })
  const receipt = await until(
    () => read(gateway, lola, `/v1/messages/${second.body.messageId}`),
    (message) => message.recipients[0].receipt === 'written',
  )
  expect(receipt.recipients[0]).toMatchObject({ agent: '@donna', status: 'sent', deliveryMethod: 'push' })
})

// S4-10
test('only a recipient reads the message, in its inbox', async () => {
  await using gateway = await startGateway()
  const lola = await gateway.addAgent('lola')
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  const payload = { spec_id: 'SPEC-033', instructions: 'Summarize it.' }
  const { body } = await post(gateway, lola, {
    to: '@donna',
    signalType: 'ReviewRequested',
    payload,
    type: 'task',
    ref: 'docs/spec.md',
    priority: 'high',
    taggedConcepts: ['review'],
  })
  const { messages, nextPageToken } = await read(gateway, donna, '/v1/inbox')
  expect(nextPageToken).toBe('')
  expect(messages).toEqual([
    {
      messageId: body.messageId,
      threadId: body.messageId,
      from: '@lola',
      fromSession: null,
      to: '@donna',
      isBroadcast: false,
      subject: 'ReviewRequested: SPEC-033: Summarize it.',
      body: null,
      type: 'task',
      signalType: 'ReviewRequested',
      payload,
      ref: 'docs/spec.md',
      priority: 'high',
      wakePolicy: 'immediate',
      taggedConcepts: ['review'],
      inReplyTo: null,
      taskId: null,
      status: 'sent',
      receipt: 'accepted',
      sessionId: null,
      deliveredAt: null,
      deliveryMethod: null,
      seenAt: null,
      ackedAt: null,
      resolvedAt: null,
      createdAt: expect.any(String),
    },
  ])
  expect((await read(gateway, mike, '/v1/inbox')).messages).toEqual([])
  expect((await read(gateway, lola, '/v1/inbox')).messages).toEqual([])
  for (const path of [`/v1/messages/${body.messageId}`, `/v1/threads/${body.threadId}`]) {
    expect((await read(gateway, mike, path)).status).toBe(404)
    expect((await read(gateway, undefined, path)).status).toBeUndefined()
  }
  expect((await read(gateway, lola, '/v1/messages')).messages).toMatchObject([{ messageId: body.messageId }])
  expect((await read(gateway, donna, '/v1/messages')).messages).toEqual([])
})

// S2-3, D10, S1-24
test('a broadcast is one message with a row for each other agent; they are woken, its sender is not', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const lola = await gateway.addAgent('lola')
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike', { defaultWakePolicy: 'next_turn' })
  for (const agent of [lola, donna, mike]) await gateway.subscribe(agent, receiver.url, { trigger: 'SENT_TO_ME' })
  const { body } = await post(gateway, lola, { to: '*', subject: 'Deploy at noon' })
  expect(body.recipients.map(({ agent }: { agent: string }) => agent)).toEqual(['@donna', '@mike'])
  const [wake] = await receiver.waitFor(1)
  expect(wake!.body).toMatchObject({ agentIdentity: '@donna', payload: { isBroadcast: true, from: '@lola' } })
  await gateway.call('POST', `/v1/messages/${body.messageId}/status`, { status: 'acked' }, { key: mike.key })
  const { recipients } = await read(gateway, lola, `/v1/messages/${body.messageId}`)
  expect(recipients.map((one: { agent: string; status: string }) => [one.agent, one.status])).toEqual([
    ['@donna', 'sent'],
    ['@mike', 'acked'],
  ])
  expect((await read(gateway, donna, `/v1/messages/${body.messageId}`)).recipients).toMatchObject([{ agent: '@donna' }])
  expect((await read(gateway, lola, '/v1/inbox')).messages).toEqual([])
  expect(receiver.wakes).toHaveLength(1)
})

test('a broadcast in a project with one agent has no recipients, and is not an error', async () => {
  await using gateway = await startGateway()
  const lola = await gateway.addAgent('lola')
  const { status, body } = await post(gateway, lola, { to: '*', subject: 'Anybody?' })
  expect([status, body.recipients, body.delivered, body.queued]).toEqual([201, [], false, false])
})

// S2-21: threads
test('a reply needs no address and no subject, stays in its thread, and answers only what its sender can see', async () => {
  await using gateway = await startGateway()
  const lola = await gateway.addAgent('lola')
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  const first = (await post(gateway, lola, { to: '@donna', subject: 'Lunch?' })).body
  const reply = (await post(gateway, donna, { inReplyTo: first.messageId, body: 'Yes.' })).body
  const again = (await post(gateway, lola, { inReplyTo: reply.messageId, body: 'Good.' })).body
  // Answering oneself goes where the first one went.
  const more = (await post(gateway, lola, { inReplyTo: again.messageId, body: 'Bring the plan.' })).body
  const thread = await read(gateway, donna, `/v1/threads/${first.messageId}`)
  const lines = thread.messages.map((m: { from: string; subject: string; inReplyTo: string }) => [
    m.from,
    m.subject,
    m.inReplyTo,
  ])
  expect(lines).toEqual([
    ['@lola', 'Lunch?', null],
    ['@donna', 'Re: Lunch?', first.messageId],
    ['@lola', 'Re: Lunch?', reply.messageId],
    ['@lola', 'Re: Lunch?', again.messageId],
  ])
  expect(more.recipients[0].agent).toBe('@donna')
  const stolen = await post(gateway, mike, { inReplyTo: first.messageId, body: 'Me too.' })
  expect(stolen).toMatchObject({ status: 404, body: { code: 'message-not-found', field: 'inReplyTo' } })
  const page = await read(gateway, lola, `/v1/threads/${first.messageId}?limit=3`)
  expect(page.messages).toHaveLength(3)
  const rest = await read(gateway, lola, `/v1/threads/${first.messageId}?limit=3&pageToken=${page.nextPageToken}`)
  expect([rest.messages.length, rest.nextPageToken]).toEqual([1, ''])
})

// S4-11
test('a person writes as @operator, marked as a relay, is answered, and sees the chain advance', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const { body } = await post(gateway, undefined, { to: '@donna', subject: 'Ship it today' })
  const [mail] = (await read(gateway, donna, '/v1/inbox')).messages
  expect(mail).toMatchObject({ from: '@operator', type: 'relay' })
  await post(gateway, donna, { inReplyTo: body.messageId, body: 'Done.' })
  await gateway.call('POST', `/v1/messages/${body.messageId}/status`, { status: 'resolved' }, { key: donna.key })
  expect((await read(gateway, undefined, '/v1/inbox')).messages).toMatchObject([{ from: '@donna', body: 'Done.' }])
  const seen = await read(gateway, undefined, `/v1/messages/${body.messageId}`)
  expect(seen.recipients).toMatchObject([{ agent: '@donna', status: 'resolved', receipt: 'resolved' }])
  await post(gateway, donna, { to: '@operator', subject: 'Anything else?' })
  expect((await read(gateway, undefined, '/v1/inbox?unread=true')).messages).toHaveLength(2)
})

test('a repeat under one Idempotency-Key is the same message; another message under it is refused', async () => {
  await using gateway = await startGateway()
  const lola = await gateway.addAgent('lola')
  const donna = await gateway.addAgent('donna')
  const mail = { to: '@donna', subject: 'Once' }
  const key = { 'Idempotency-Key': 'k-1' }
  const answers = await Promise.all([1, 2, 3].map(() => post(gateway, lola, mail, key)))
  expect(new Set(answers.map(({ body }) => body.messageId)).size).toBe(1)
  expect((await read(gateway, donna, '/v1/inbox')).messages).toHaveLength(1)
  const other = await post(gateway, lola, { ...mail, subject: 'Twice' }, key)
  expect(other).toMatchObject({ status: 409, body: { code: 'idempotency-conflict', field: 'Idempotency-Key' } })
  expect((await post(gateway, donna, mail, key)).body.messageId).not.toBe(answers[0]!.body.messageId)
})

test.each([
  ['nobody to send to', { subject: 'x' }, 'to'],
  ['nothing to say', { to: '@donna' }, 'subject'],
  ['too long a subject', { to: '@donna', subject: 'x'.repeat(201) }, 'subject'],
  ['too long a body', { to: '@donna', subject: 'x', body: 'x'.repeat(262_145) }, 'body'],
  ['too large a payload', { to: '@donna', subject: 'x', payload: { big: 'x'.repeat(70_000) } }, 'payload'],
  ['a payload that is no object', { to: '@donna', subject: 'x', payload: ['no'] }, 'payload'],
  ['no such type', { to: '@donna', subject: 'x', type: 'letter' }, 'type'],
  ['no such policy', { to: '@donna', subject: 'x', wakePolicy: 'now' }, 'wakePolicy'],
  ['no such field', { to: '@donna', subject: 'x', colour: 'red' }, 'colour'],
  ['no name for a signal', { to: '@donna', signalType: 'no spaces' }, 'signalType'],
])('%s is refused by the name of the field', async (_what, body, field) => {
  await using gateway = await startGateway()
  await gateway.addAgent('donna')
  expect(await post(gateway, undefined, body)).toMatchObject({ status: 400, body: { field } })
})

test('an unknown name is refused', async () => {
  await using gateway = await startGateway()
  const answer = await post(gateway, undefined, { to: '@nobody', subject: 'x' })
  expect(answer).toMatchObject({ status: 404, body: { code: 'agent-not-found' } })
})

// D9: a task's mail has the rows that all mail has
test("a task's mail is in the inbox too, and is marked when its wake was acknowledged", async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  await gateway.subscribe(donna, receiver.url, { trigger: 'TASK_STATE_CHANGED' })
  const task = await gateway.send('donna', 'Review PR 7', { key: mike.key })
  await receiver.waitFor(1)
  const { messages } = await until(
    () => read(gateway, donna, '/v1/inbox'),
    ({ messages: [mail] }) => mail.deliveryMethod === 'push',
  )
  expect(messages).toMatchObject([{ from: '@mike', subject: 'Review PR 7', type: 'task', taskId: task.id, body: null }])
  const answer = await post(gateway, donna, { inReplyTo: messages[0].messageId, body: 'Which repository?' })
  expect(answer.body).toMatchObject({ threadId: messages[0].threadId, recipients: [{ agent: '@mike' }] })
})
