import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { advanceUntil, stateOf } from '../wakes/acts.ts'

async function world(surface: string, coalesceWindow: number) {
  const clock = new FakeClock()
  const gateway = await startGateway({ overrides: { clock } })
  const receiver = await startReceiver()
  const lola = await gateway.addAgent('lola')
  const donna = await gateway.addAgent('donna')
  const harnessTargetMetadata = { coalesceWindow, coalesceMode: 'window' }
  const sub = await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME', harnessTargetMetadata })
  await gateway.call('POST', '/v1/sessions', { surface }, { key: donna.key })
  const send = async (subject: string, fields = {}) =>
    (await gateway.call('POST', '/v1/messages', { to: '@donna', subject, ...fields }, { key: lola.key })).body
  const ask = async (agent: TestAgent = donna) =>
    ((await gateway.call('GET', '/v1/tasks', undefined, { key: agent.key })).body.pendingSignals ?? []).map(
      ({ subject }: { subject: string }) => subject,
    )
  const methods = async () =>
    (await gateway.call('GET', '/v1/inbox?order=oldest', undefined, { key: donna.key })).body.messages.map(
      ({ deliveryMethod }: { deliveryMethod: string }) => deliveryMethod,
    )
  return {
    clock,
    gateway,
    receiver,
    donna,
    sub,
    send,
    ask,
    methods,
    async [Symbol.asyncDispose]() {
      await receiver[Symbol.asyncDispose]()
      await gateway[Symbol.asyncDispose]()
    },
  }
}

// D9: one wake for each recipient and message, across routes
test.each(['claude_code', 'claude_desktop'])(
  'on %s mail that was pushed is handed over by no other route',
  async (surface) => {
    await using w = await world(surface, 0)
    await w.send('one')
    await w.receiver.waitFor(1)
    await until(w.methods, ([method]) => method === 'push')
    expect(await w.ask()).toEqual([])
    const again = await w.gateway.call('POST', '/v1/sessions', { surface }, { key: w.donna.key })
    expect(again.body.pendingSignals.map(({ subject }: { subject: string }) => subject)).not.toContain('one')
  },
)

test('a surface that is pushed to waits for its wake, also through its window', async () => {
  await using w = await world('claude_code', 30)
  await w.send('one')
  expect(await w.ask()).toEqual([])
  w.clock.advance(30_000)
  await w.receiver.waitFor(1)
  await until(w.methods, ([method]) => method === 'push')
  expect(await w.ask()).toEqual([])
})

// S2-21
test('on a surface that is pushed to, mail whose wake has failed goes along with the next answer', async () => {
  await using w = await world('claude_code', 0)
  w.receiver.respond(503)
  await w.send('one')
  const read = { ...w.donna, key: w.gateway.adminKey }
  const failing = () => stateOf(w.gateway, read, w.sub.id)
  await advanceUntil(w.clock, 1_000, failing, ({ failedInARow }) => failedInARow === 1)
  expect(await w.ask()).toEqual(['one'])
  // A wake that arrives is trusted again.
  w.receiver.respond(200)
  await w.send('two')
  await until(failing, ({ failedInARow }) => failedInARow === 0)
  await until(w.methods, ([, method]) => method === 'push')
  w.receiver.respond(503)
  await w.send('three')
  expect(await w.ask()).toEqual([])
})

// S1-31: mail that was read wakes no agent
test('mail that was delivered with an answer, or was seen, is not in a later wake', async () => {
  await using w = await world('claude_desktop', 30)
  await w.send('taken along')
  expect(await w.ask()).toEqual(['taken along'])
  const seen = await w.send('seen')
  await w.gateway.call('POST', `/v1/messages/${seen.messageId}/status`, { status: 'seen' }, { key: w.donna.key })
  await w.send('news')
  w.clock.advance(30_000)
  const [wake] = await w.receiver.waitFor(1)
  expect(wake!.body.payload).toMatchObject({ eventCount: 1, latestMessage: { subject: 'news' } })
  expect(await until(w.methods, (methods) => methods[2] !== null)).toEqual(['piggyback', 'inbox', 'push'])
})

test('when all mail was delivered meanwhile, no wake is sent', async () => {
  await using w = await world('claude_desktop', 30)
  await w.send('one')
  expect(await w.ask()).toEqual(['one'])
  w.clock.advance(30_000)
  await until(
    async () => (await w.gateway.call('GET', `/v1/wake-subscriptions/${w.sub.id}`)).body,
    ({ cursorLogId }) => cursorLogId >= 5,
  )
  await w.send('two')
  w.clock.advance(30_000)
  const [wake] = await w.receiver.waitFor(1)
  expect(wake!.body.payload).toMatchObject({ eventCount: 1, latestMessage: { subject: 'two' } })
})

// S1-15
test('mail for the next turn wakes no agent and goes along with the next answer', async () => {
  await using w = await world('claude_code', 0)
  await w.send('later', { wakePolicy: 'next_turn' })
  await w.send('now')
  const [wake] = await w.receiver.waitFor(1)
  expect(wake!.body.payload.subject).toBe('now')
  expect(await w.ask()).toEqual(['later'])
})

// D9: also for mail that comes with a task, and whatever the form of the wake
test.each([
  ['a digest of task changes', 'TASK_STATE_CHANGED', 30, 1],
  ['a digest of more mail than it lists', 'SENT_TO_ME', 30, 105],
] as const)('mail that %s announced is handed over by no other route', async (_, trigger, coalesceWindow, count) => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  await gateway.subscribe(donna, receiver.url, {
    trigger,
    harnessTargetMetadata: { coalesceWindow, coalesceMode: 'window' },
  })
  for (let n = 0; n < count; n++) await gateway.send('donna', `task ${n}`)
  clock.advance(coalesceWindow * 1_000)
  const [wake] = await receiver.waitFor(1)
  expect(wake!.body).toMatchObject({ eventType: 'wake/digest', payload: { eventCount: count } })
  const inbox = async () =>
    (await gateway.call('GET', '/v1/inbox?order=oldest&limit=200', undefined, { key: donna.key })).body.messages
  const mail = await until(inbox, (messages) => messages.every((one: { receipt: string }) => one.receipt === 'written'))
  expect(new Set(mail.map((one: { deliveryMethod: string }) => one.deliveryMethod))).toEqual(new Set(['push']))
  const started = await gateway.call('POST', '/v1/sessions', { surface: 'claude_desktop' }, { key: donna.key })
  expect(started.body.pendingSignals).toEqual([])
})

test('mail of a task that an answer took along does not come again as a change of the task', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  await gateway.subscribe(donna, receiver.url, {
    harnessTargetMetadata: { coalesceWindow: 30, coalesceMode: 'window' },
  })
  await gateway.call('POST', '/v1/sessions', { surface: 'claude_desktop' }, { key: donna.key })
  await gateway.send('donna', 'taken along')
  const { body } = await gateway.call('GET', '/v1/tasks', undefined, { key: donna.key })
  expect(body.pendingSignals).toMatchObject([{ subject: 'taken along' }])
  const news = await gateway.send('donna', 'news')
  clock.advance(30_000)
  const [wake] = await receiver.waitFor(1)
  expect(wake!.body.payload).toMatchObject({ eventCount: 1, refs: [{ taskId: news.id }] })
})
