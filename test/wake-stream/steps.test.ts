import { describe, expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { besideStore } from '../support/store.ts'
import { readWakes } from '../support/wake-reader.ts'
import { deliveriesOf, type Json } from '../wakes/acts.ts'

async function subscribe(gateway: TestGateway, agent: TestAgent, input: Json = {}): Promise<string> {
  const harnessTargetMetadata = { coalesceWindow: 0 }
  const request = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon', harnessTargetMetadata, ...input }
  return (await gateway.call('POST', '/v1/wake-subscriptions', request, { key: agent.key })).body.subscriptionId
}

const mailFrom = async (gateway: TestGateway, sender: TestAgent, subject: string, fields: Json = {}): Promise<string> =>
  (await gateway.call('POST', '/v1/messages', { to: '@donna', subject, ...fields }, { key: sender.key })).body.messageId

const recipientOf = async (gateway: TestGateway, reader: { readonly key: string }, id: string): Promise<Json> =>
  (await gateway.call('GET', `/v1/messages/${id}`, undefined, { key: reader.key })).body.recipients[0]

async function office() {
  const gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  const id = await subscribe(gateway, donna)
  const reader = await readWakes(gateway, donna, [id], ['append-only'])
  return {
    gateway,
    donna,
    mike,
    id,
    reader,
    async [Symbol.asyncDispose]() {
      await reader[Symbol.asyncDispose]()
      await gateway[Symbol.asyncDispose]()
    },
  }
}

describe('the steps of a wake', () => {
  test('are on record with source, time and who said them, the oldest first', async () => {
    await using scene = await office()
    const { gateway, donna, mike, id, reader } = scene
    await mailFrom(gateway, mike, 'one')
    const [wake] = await reader.waitFor(1)
    await reader.report(wake!.eventId, 'written', undefined, { source: 'codex: queue' })
    await reader.report(wake!.eventId, 'held', 'turn_active: thread 7', { source: 'codex: thread/status' })
    await reader.report(wake!.eventId, 'held', 'turn_active: thread 7', { source: 'codex: thread/status' })
    await reader.report(wake!.eventId, 'turn_started', undefined, { source: 'hook: UserPromptSubmit' })
    const [record] = await deliveriesOf(gateway, donna, id)
    const by = { reportedBy: '@donna', at: expect.any(String) }
    expect(record).toMatchObject({ outcome: 'delivered', step: 'turn_started' })
    expect(record.steps).toEqual([
      { step: 'written', source: 'codex: queue', ...by },
      { step: 'held', source: 'codex: thread/status', detail: 'turn_active: thread 7', repeats: 1, ...by },
      { step: 'turn_started', source: 'hook: UserPromptSubmit', ...by },
    ])
  })

  test('in any order, twice and after the end leave the strongest, and no end twice', async () => {
    await using scene = await office()
    const { gateway, donna, mike, id, reader } = scene
    const messageId = await mailFrom(gateway, mike, 'one')
    const [wake] = await reader.waitFor(1)
    for (const step of ['turn_started', 'held', 'failed', 'delivered', 'written', 'turn_started', 'expired'])
      expect(await reader.report(wake!.eventId, step)).toBe('delivered')
    expect(await recipientOf(gateway, mike, messageId)).toMatchObject({
      receipt: 'turn_started',
      wake: { step: 'turn_started' },
    })
    expect((await deliveriesOf(gateway, donna, id))[0]).toMatchObject({ outcome: 'delivered', step: 'turn_started' })
  })

  test('of a reader that reports ten thousand times are a bounded row', { timeout: 120_000 }, async () => {
    await using scene = await office()
    const { gateway, donna, mike, id, reader } = scene
    // They count as 1,100 requests, of which 1,000 may come at once.
    await gateway.call('PATCH', '/v1/projects/default', { limits: { requestsPerMinute: 0 } })
    await mailFrom(gateway, mike, 'one')
    const [{ eventId } = { eventId: '' }] = await reader.waitFor(1)
    await reader.report(eventId, 'turn_started', undefined, { source: 'codex' })
    const steps = ['held', 'written', 'unknown', 'delivered']
    for (let sent = 0; sent < 10_000; sent += 100) {
      const receipts = Array.from({ length: 100 }, (_, index) => ({
        eventId,
        step: steps[index % steps.length],
        source: `${sent + index}`.padEnd(200, 's'),
        detail: `${sent + index}`.padEnd(500, 'd'),
      }))
      const { status, body } = await gateway.call('POST', '/v1/wake-stream/receipts', receipts, { key: donna.key })
      expect([status, body.detail]).toEqual([200, undefined])
    }
    const [record] = await deliveriesOf(gateway, donna, id)
    expect(record.steps.length).toBe(20)
    expect(record.steps.map(({ step }: Json) => step)).toContain('turn_started')
    const [row] = await besideStore(gateway.dataDir, 'select length(history) as size from delivery')
    expect(Number(row!.size)).toBeLessThan(25_000)
    const [events] = await besideStore(
      gateway.dataDir,
      "select count(*) as total from event where type = 'wake.reported'",
    )
    expect(Number(events!.total)).toBe(1)
  })

  test('are shown to the sender without what is the reader’s own, and whole to the recipient and the operator', async () => {
    await using scene = await office()
    const { gateway, donna, mike, reader } = scene
    const messageId = await mailFrom(gateway, mike, 'one')
    const [wake] = await reader.waitFor(1)
    const secret = { source: 'tmux: pane %3 of /home/donna/secret' }
    await reader.report(wake!.eventId, 'held', 'user_typing: in /home/donna/secret', secret)
    const at = expect.any(String)
    expect((await recipientOf(gateway, mike, messageId)).wake).toEqual({
      step: 'held',
      source: 'tmux',
      at,
      detail: 'user_typing',
    })
    const whole = { step: 'held', at, ...secret, detail: 'user_typing: in /home/donna/secret' }
    expect((await recipientOf(gateway, donna, messageId)).wake).toEqual(whole)
    expect((await recipientOf(gateway, { key: gateway.adminKey }, messageId)).wake).toEqual(whole)
    await reader.report(wake!.eventId, 'refused', 'no such file: /home/donna/secret', { source: '/home/donna/secret' })
    expect((await recipientOf(gateway, mike, messageId)).wake).toEqual({ step: 'refused', source: 'reader', at })
  })

  test('of the newest wake count, where a message is announced again', async () => {
    await using scene = await office()
    const { gateway, donna, mike, id, reader } = scene
    const messageId = await mailFrom(gateway, mike, 'one')
    const [first] = await reader.waitFor(1)
    await reader.report(first!.eventId, 'turn_started')
    await gateway.call('POST', `/v1/wake-subscriptions/${id}/resync`, { sinceLogId: 0 }, { key: donna.key })
    const [, second] = await reader.waitFor(2)
    await reader.report(second!.eventId, 'held', 'turn_active')
    expect(await recipientOf(gateway, mike, messageId)).toMatchObject({
      receipt: 'turn_started',
      wake: { step: 'held' },
    })
    await reader.report(first!.eventId, 'seen')
    expect((await recipientOf(gateway, mike, messageId)).wake).toMatchObject({ step: 'held' })
  })

  test('a claim of the reader is no word of the recipient: its status stays', async () => {
    await using scene = await office()
    const { gateway, mike, reader } = scene
    const messageId = await mailFrom(gateway, mike, 'one')
    const [wake] = await reader.waitFor(1)
    await reader.report(wake!.eventId, 'resolved')
    expect(await recipientOf(gateway, mike, messageId)).toMatchObject({ status: 'sent', receipt: 'turn_started' })
  })
})

describe('the sender is woken by them', () => {
  const listen = async (gateway: TestGateway, agent: TestAgent, url: string) =>
    gateway.subscribe(agent, url, { trigger: 'WAKE_RECEIPT', harnessTargetMetadata: { coalesceWindow: 0 } })

  test('when its mail is held, when a turn begins with it, and once for each', async () => {
    await using scene = await office()
    await using receiver = await startReceiver()
    const { gateway, mike, reader } = scene
    await listen(gateway, mike, receiver.url)
    const messageId = await mailFrom(gateway, mike, 'one')
    const [wake] = await reader.waitFor(1)
    for (const step of ['written', 'held', 'held', 'turn_started', 'turn_started', 'seen'])
      await reader.report(wake!.eventId, step, step === 'held' ? 'turn_active: secret' : undefined, {
        source: 'codex: x',
      })
    await mailFrom(gateway, mike, 'two')
    const [, two] = await reader.waitFor(2)
    await reader.report(two!.eventId, 'delivered')
    await mailFrom(gateway, mike, 'three')
    const [, , three] = await reader.waitFor(3)
    await reader.report(three!.eventId, 'written', undefined, { isFinal: true })
    await mailFrom(gateway, mike, 'four')
    const [, , , four] = await reader.waitFor(4)
    await reader.report(four!.eventId, 'expired')
    const received = await receiver.waitFor(4)
    expect(received.map(({ body }) => [body.eventType, body.payload.step, body.payload.source])).toEqual([
      ['wake/receipt', 'held', 'codex'],
      ['wake/receipt', 'turn_started', 'codex'],
      ['wake/receipt', 'written', 'reader'],
      ['wake/receipt', 'expired', 'reader'],
    ])
    expect(received[0]!.body.payload).toMatchObject({
      messageId,
      recipient: '@donna',
      detail: 'turn_active',
      at: expect.any(String),
    })
    expect(received[0]!.raw).not.toContain('secret')
  })

  // D17
  test('not by what it did itself, and not by a wake about its own mail to itself', async () => {
    await using scene = await office()
    await using receiver = await startReceiver()
    const { gateway, donna, mike, reader } = scene
    await listen(gateway, donna, receiver.url)
    await listen(gateway, mike, receiver.url)
    await mailFrom(gateway, donna, 'to myself')
    await mailFrom(gateway, mike, 'hello')
    const [wake] = await reader.waitFor(1)
    await reader.report(wake!.eventId, 'turn_started')
    const [only] = await receiver.waitFor(1)
    expect(only!.body.agentIdentity).toBe('@mike')
    const { body } = await gateway.call('GET', '/v1/events?since=0&limit=200')
    expect(body.events.filter(({ type }: Json) => type === 'wake.reported').length).toBe(1)
  })

  test('also an operator, and the originator of a task by the mail of it', async () => {
    await using scene = await office()
    await using receiver = await startReceiver()
    const { gateway, reader } = scene
    const operator = {
      trigger: 'WAKE_RECEIPT',
      harnessTarget: 'a2a-webhook',
      harnessTargetMetadata: { url: receiver.url, coalesceWindow: 0 },
    }
    expect((await gateway.call('POST', '/v1/wake-subscriptions', operator)).status).toBe(201)
    const task = await gateway.send('donna', 'work')
    const [wake] = await reader.waitFor(1)
    await reader.report(wake!.eventId, 'held', 'turn_active')
    const [received] = await receiver.waitFor(1)
    expect(received!.body).toMatchObject({
      agentIdentity: '@operator',
      payload: { taskId: task.id, step: 'held', detail: 'turn_active' },
    })
  })

  test('once for each sender of a digest', async () => {
    await using gateway = await startGateway()
    await using receiver = await startReceiver()
    const [donna, mike, lola] = [
      await gateway.addAgent('donna'),
      await gateway.addAgent('mike'),
      await gateway.addAgent('lola'),
    ]
    const id = await subscribe(gateway, donna)
    for (const agent of [mike, lola]) await listen(gateway, agent, receiver.url)
    await mailFrom(gateway, mike, 'one')
    const newest = await mailFrom(gateway, mike, 'two')
    await mailFrom(gateway, lola, 'three')
    await using reader = await readWakes(gateway, donna, [id], ['append-only'])
    const [digest] = await reader.waitFor(1)
    expect(digest!.body.payload.eventCount).toBe(3)
    await reader.report(digest!.eventId, 'turn_started')
    const received = await receiver.waitFor(2)
    const ofMike = received.find(({ body }) => body.agentIdentity === '@mike')!
    expect(ofMike.body.payload).toMatchObject({ messageId: newest, messageCount: 2 })
    expect(received.length).toBe(2)
  })
})

describe('a test wake', () => {
  const testOf = (gateway: TestGateway, agent: TestAgent, id: string) =>
    gateway.call('POST', `/v1/wake-subscriptions/${id}/test`, undefined, { key: agent.key })

  test('is answered with the step that came back, and waits for a turn', async () => {
    await using scene = await office()
    const { gateway, donna, id, reader } = scene
    const tested = testOf(gateway, donna, id)
    const [wake] = await reader.waitFor(1)
    expect(await reader.report(wake!.eventId, 'held', 'turn_active')).toBe('pending')
    expect(await reader.report(wake!.eventId, 'delivered')).toBe('delivered')
    expect(await reader.report(wake!.eventId, 'turn_started', undefined, { source: 'codex: turn/started' })).toBe(
      'delivered',
    )
    const { body } = await tested
    expect(body).toMatchObject({
      attempt: { error: null },
      reported: { step: 'turn_started', source: 'codex: turn/started', reportedBy: '@donna', at: expect.any(String) },
      waitsSeconds: 50,
    })
  })

  test('that is refused says why', async () => {
    await using scene = await office()
    const { gateway, donna, id, reader } = scene
    const tested = testOf(gateway, donna, id)
    const [wake] = await reader.waitFor(1)
    expect(await reader.report(wake!.eventId, 'misaddressed', 'two conversations')).toBe('failed')
    expect((await tested).body).toMatchObject({
      attempt: { error: 'misaddressed' },
      reported: { step: 'misaddressed', detail: 'two conversations' },
    })
  })
})
