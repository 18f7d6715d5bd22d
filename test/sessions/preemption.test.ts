import { describe, expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { eventsOf, stateOf, untilStatus } from '../wakes/acts.ts'
import { at, beat, begin, end, noon, sessionOf, signalsOf, start } from './sessions.ts'

const older = { pid: 1, startedAt: at(noon) }
const newer = { pid: 2, startedAt: at(noon + 1000) }

const byHeader = (gateway: TestGateway, { key }: TestAgent, id: string) =>
  gateway.call('GET', '/v1/tasks', undefined, { key, headers: { 'Rouse-Session': id } })
const calls = [
  ['a call with the header', byHeader],
  ['a heartbeat', beat],
  ['its end', end],
] as const

describe('two processes with one identity', () => {
  // D12
  test('the newer process speaks for the agent, and the older one learns of it with its next call', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const first = await begin(gateway, donna, older)
    const second = await begin(gateway, donna, { surface: 'codex', ...newer })
    expect(await sessionOf(gateway, first)).toMatchObject({
      status: 'ended',
      reason: 'preempted',
      newMasterSession: second,
    })
    const refusal = { status: 409, code: 'session-ended', reason: 'preempted', newMasterSession: second }
    expect((await beat(gateway, donna, first)).body).toMatchObject(refusal)
    const headers = { 'Rouse-Session': first }
    expect((await gateway.call('GET', '/v1/tasks', undefined, { key: donna.key, headers })).body).toMatchObject(refusal)
    expect((await beat(gateway, donna, second)).status).toBe(200)
    expect(await signalsOf(gateway, donna)).toMatchObject([{ signalType: 'MasterPreempted' }])
    const data = { identity: '@donna', sessionId: first, newMasterSession: second }
    expect(await eventsOf(gateway, 'master.preempted')).toMatchObject([{ actor: '@gateway', data }])
    expect(await eventsOf(gateway, 'peer.left')).toEqual([])
  })

  // D26, S2-7
  test.each(calls)('the preempted session alone gets the signal, once, with %s', async (_, ask) => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const first = await begin(gateway, donna, { surface: 'cursor', ...older })
    const started = await start(gateway, donna, { surface: 'cursor', ...newer })
    const second: string = started.body.sessionId
    expect(started.body.pendingSignals).toEqual([])
    expect((await byHeader(gateway, donna, second)).body.pendingSignals).toBe(undefined)
    expect((await end(gateway, donna, second)).body.pendingSignals).toBe(undefined)
    const third = await start(gateway, donna, { surface: 'cursor' })
    expect(third.body.pendingSignals).toEqual([])
    expect(await gateway.call('GET', `/v1/sessions/${first}`, undefined, { key: donna.key })).toMatchObject({
      body: { reason: 'preempted', newMasterSession: second },
    })
    expect((await signalsOf(gateway, donna))[0]).toMatchObject({ status: 'sent', receipt: 'accepted' })
    await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'for the third' })

    const { body } = await ask(gateway, donna, first)
    expect(body).toMatchObject({ sessionId: first, reason: 'preempted', newMasterSession: second })
    expect(body.pendingSignals).toMatchObject([
      {
        signal_type: 'MasterPreempted',
        from: '@gateway',
        to_identity: '@donna',
        payload: { preempted_by: '@donna', new_master_session: second },
      },
    ])
    expect((await ask(gateway, donna, first)).body.pendingSignals).toBe(undefined)
    const delivered = { deliveryMethod: 'piggyback', receipt: 'written', sessionId: first }
    expect((await signalsOf(gateway, donna))[0]).toMatchObject(delivered)
    const byOne = await byHeader(gateway, donna, third.body.sessionId)
    expect(byOne.body.pendingSignals).toMatchObject([{ subject: 'for the third' }])
  })

  // D26, D11
  test('a call that takes no mail leaves the signal for the next one', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const first = await begin(gateway, donna, older)
    await begin(gateway, donna, newer)
    const headers = { 'Rouse-Session': first, 'Rouse-Pending-Signals': 'none' }
    const declined = await gateway.call('GET', '/v1/tasks', undefined, { key: donna.key, headers })
    expect(declined.body).toMatchObject({ code: 'session-ended' })
    expect(declined.body.pendingSignals).toBe(undefined)
    expect((await end(gateway, { ...donna, key: gateway.adminKey }, first)).body.pendingSignals).toBe(undefined)
    expect((await beat(gateway, donna, first)).body.pendingSignals).toHaveLength(1)
  })

  // D29
  test('the signal is no unread mail of the agent: the next start announces nothing', async () => {
    await using gateway = await startGateway()
    await using receiver = await startReceiver()
    const donna = await gateway.addAgent('donna')
    await begin(gateway, donna, older)
    const second = await begin(gateway, donna, newer)
    await gateway.subscribe(donna, `${receiver.url}donna`, { trigger: 'SENT_TO_ME' })
    await end(gateway, donna, second)
    await begin(gateway, donna)
    await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'now' })
    const [wake] = await receiver.waitFor(1)
    expect(wake!.body).toMatchObject({ eventType: 'wake/sent_to_me', payload: { subject: 'now' } })
  })

  test('an older process is refused while the session of a newer one is live', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    await begin(gateway, donna, older)
    const second = await begin(gateway, donna, newer)
    const { body } = await start(gateway, donna, older)
    expect(body).toMatchObject({ status: 409, code: 'session-preempted', newMasterSession: second })
    await end(gateway, donna, second)
    expect((await start(gateway, donna, older)).status).toBe(201)
  })

  test('a process that starts again continues its session', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const lola = await gateway.addAgent('lola')
    await begin(gateway, lola)
    const first = await begin(gateway, donna, older)
    const again = await start(gateway, donna, { surface: 'codex', capabilities: ['append-only'], ...older })
    expect(again.status).toBe(200)
    expect(again.body.sessionId).toBe(first)
    const changed = { status: 'live', surface: 'codex', capabilities: ['append-only'] }
    expect(await sessionOf(gateway, first)).toMatchObject(changed)
    expect(await eventsOf(gateway, 'master.preempted')).toEqual([])
    expect((await signalsOf(gateway, lola)).map(({ signalType }) => signalType)).toEqual(['PeerJoined'])
  })

  test('a start in the future does not win for ever', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    await begin(gateway, donna, { pid: 1, startedAt: at(Date.now() + 3_600_000) })
    expect((await start(gateway, donna, { pid: 2, startedAt: at(Date.now()) })).status).toBe(201)
  })

  test('of many that start at once one is live, and each of the others learns of its successor', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const answers = await Promise.all(Array.from({ length: 20 }, () => start(gateway, donna)))
    expect(new Set(answers.map(({ body }) => body.sessionId)).size).toBe(20)
    const sessions = await Promise.all(answers.map(({ body }) => sessionOf(gateway, body.sessionId)))
    expect(sessions.filter(({ status }) => status === 'live').length).toBe(1)
    const successors = sessions.flatMap(({ newMasterSession }) => newMasterSession ?? [])
    expect(new Set(successors).size).toBe(19)
  })
})

describe('a call that names its session', () => {
  test.each([
    ['of nobody', 'session_00000000-0000-7000-8000-000000000000'],
    ['that is no id', 'x'],
  ])('%s is refused', async (_, id) => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const { body } = await gateway.call('GET', '/v1/inbox', undefined, {
      key: donna.key,
      headers: { 'Rouse-Session': id },
    })
    expect(body).toMatchObject({ status: 404, code: 'session-not-found' })
  })

  test('gets mail with answers only while it is live', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const first = await begin(gateway, donna, { surface: 'cursor' })
    const second = await begin(gateway, donna, { surface: 'cursor' })
    await gateway.call('GET', '/v1/tasks', undefined, { key: donna.key })
    await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'for the newer' })
    const ask = (id: string) =>
      gateway.call('GET', '/v1/tasks', undefined, { key: donna.key, headers: { 'Rouse-Session': id } })
    expect((await ask(first)).body.pendingSignals).toMatchObject([{ signal_type: 'MasterPreempted' }])
    expect((await ask(second)).body.pendingSignals).toMatchObject([{ subject: 'for the newer' }])
  })
})

describe('a subscription that a session opened', () => {
  const listen = async (
    sessionId: string,
    url: string,
    key: string,
    gateway: Awaited<ReturnType<typeof startGateway>>,
  ) => {
    const input = { trigger: 'TASK_STATE_CHANGED', sessionId, harnessTargetMetadata: { url, coalesceWindow: 0 } }
    const { status, body } = await gateway.call('POST', '/v1/wake-subscriptions', input, { key })
    expect(status).toBe(201)
    return body.subscriptionId as string
  }

  // D12
  test('gets no more wakes when a newer one owns the identity', async () => {
    await using gateway = await startGateway()
    await using receiver = await startReceiver()
    const donna = await gateway.addAgent('donna')
    const first = await begin(gateway, donna, older)
    const bound = await listen(first, `${receiver.url}older`, donna.key, gateway)
    const free = await gateway.subscribe(donna, `${receiver.url}free`)
    await gateway.send('donna', 'one')
    await receiver.waitFor(2)
    await begin(gateway, donna, newer)
    await untilStatus(gateway, donna, bound, 'paused')
    expect(await stateOf(gateway, donna, bound)).toMatchObject({ reason: 'session preempted', sessionId: first })
    await gateway.send('donna', 'two')
    const wakes = await receiver.waitFor(3)
    expect(wakes[2]!.body.subscriptionId).toBe(free.id)
    expect(await stateOf(gateway, donna, free.id)).toMatchObject({ status: 'active' })
  })

  // D26
  test('may be named by the header of the call that makes the subscription', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const session = await begin(gateway, donna, older)
    const input = { trigger: 'SENT_TO_ME', harnessTargetMetadata: { url: 'http://127.0.0.1:9/' } }
    const by = { key: donna.key, headers: { 'Rouse-Session': session } }
    const { body } = await gateway.call('POST', '/v1/wake-subscriptions', input, by)
    expect(await stateOf(gateway, donna, body.subscriptionId)).toMatchObject({ sessionId: session })
    await begin(gateway, donna, newer)
    await untilStatus(gateway, donna, body.subscriptionId, 'paused')
  })

  test('is refused for a session that does not live, or is another agent’s', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const mike = await gateway.addAgent('mike')
    const over = await begin(gateway, donna)
    await end(gateway, donna, over)
    for (const sessionId of [over, await begin(gateway, mike), 'x']) {
      const input = { trigger: 'SENT_TO_ME', sessionId }
      const { body } = await gateway.call('POST', '/v1/wake-subscriptions', input, { key: donna.key })
      expect(body).toMatchObject({ status: 404, code: 'session-not-found', field: 'sessionId' })
    }
  })
})
