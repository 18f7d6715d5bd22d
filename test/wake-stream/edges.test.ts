import { describe, expect, test, vi } from 'vitest'
import type { Caller } from '../../src/registry/callers/caller.ts'
import { insertSession } from '../../src/registry/sessions/session-store.ts'
import { beatSession } from '../../src/sessions/sessions.ts'
import { isEdge, letsThrough } from '../../src/wakes/rules/presence-edge.ts'
import { begin, say } from '../sessions/sessions.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { readWakes } from '../support/wake-reader.ts'
import { deliveriesOf, type Json } from '../wakes/acts.ts'
import { noon } from '../wakes/builders.ts'
import { arrived, openEngine } from '../wakes/engine.ts'

const idle = { state: 'idle', source: 'bridge-daemon' }
const active = { state: 'active', source: 'bridge-daemon', activeTurnId: 't' }
const typing = { state: 'userTyping', source: 'bridge-daemon' }

const session = {
  id: 'session_1',
  projectId: 'default',
  agentId: 'agent_donna',
  surface: 'codex',
  capabilities: [],
  pid: null,
  processStartedAt: null,
  state: 'unknown',
  source: 'unknown',
  activeTurnId: null,
  presenceAt: null,
  lastSeenAt: noon,
  createdAt: noon,
  endedAt: null,
  endReason: null,
  successorId: null,
  keyId: null,
  cwd: null,
  actedAt: 0,
  contextTokens: null,
  harnessSessionId: null,
} as const

async function subscribe(gateway: TestGateway, agent: TestAgent, input: Json = {}): Promise<string> {
  const harnessTargetMetadata = { coalesceWindow: 0 }
  const request = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon', harnessTargetMetadata, ...input }
  return (await gateway.call('POST', '/v1/wake-subscriptions', request, { key: agent.key })).body.subscriptionId
}

const heldOf = async (gateway: TestGateway, agent: TestAgent, id: string): Promise<Json[]> =>
  (await gateway.call('GET', `/v1/wake-subscriptions/${id}/held`, undefined, { key: agent.key })).body.held

const mail = async (gateway: TestGateway, subject: string, fields: Json = {}): Promise<string> =>
  (await gateway.call('POST', '/v1/messages', { to: '@donna', subject, ...fields })).body.messageId

const refsOf = ({ body }: { body: Json }): string[] => body.payload.refs.map(({ messageId }: Json) => messageId)

// S1-10…S1-13
describe('what presence held', () => {
  test('is one digest when the harness is idle again, and is no longer listed as held', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const id = await subscribe(gateway, donna)
    await using reader = await readWakes(gateway, donna, [id], ['turn/start'])
    await begin(gateway, donna)
    await say(gateway, donna, active)
    const held = [await mail(gateway, 'one'), await mail(gateway, 'two')]
    expect(await heldOf(gateway, donna, id)).toMatchObject([{ reason: 'turn_active' }, { reason: 'turn_active' }])
    await say(gateway, donna, idle)
    const [digest] = await reader.waitFor(1)
    expect(digest!.body).toMatchObject({ eventType: 'wake/digest', payload: { eventCount: 2, reason: 'waiting' } })
    expect(refsOf(digest!)).toEqual(held)
    expect(await reader.report(digest!.eventId, 'turn_started')).toBe('delivered')
    expect(await heldOf(gateway, donna, id)).toEqual([])
    // The next edge tells only what was held since.
    await say(gateway, donna, active)
    const later = await mail(gateway, 'three')
    await say(gateway, donna, idle)
    const [, next] = await reader.waitFor(2)
    expect(refsOf(next!)).toEqual([later])
    await reader.report(next!.eventId, 'turn_started')
    await say(gateway, donna, active)
    await say(gateway, donna, idle)
    await mail(gateway, 'four')
    const [, , single] = await reader.waitFor(3)
    expect(single!.body).toMatchObject({ eventType: 'wake/sent_to_me', payload: { subject: 'four' } })
  })

  test('is never what a policy held, nor what its agent has read or was handed meanwhile', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const id = await subscribe(gateway, donna)
    await using reader = await readWakes(gateway, donna, [id], ['turn/start', 'append-only'])
    await begin(gateway, donna)
    await say(gateway, donna, typing)
    const read = await mail(gateway, 'read')
    await mail(gateway, 'later', { wakePolicy: 'next_turn' })
    await mail(gateway, 'never', { wakePolicy: 'silent' })
    const unread = await mail(gateway, 'unread')
    await gateway.call('POST', `/v1/messages/${read}/status`, { status: 'seen' }, { key: donna.key })
    await say(gateway, donna, active)
    const [digest] = await reader.waitFor(1)
    expect(refsOf(digest!)).toEqual([unread])
    await reader.report(digest!.eventId, 'turn_started')
    const left = await heldOf(gateway, donna, id)
    expect(left.map(({ reason }) => reason)).toEqual(['silent', 'next_turn', 'already_in_hand'])
    expect(reader.wakes.length).toBe(1)
  })

  test('waits while its reader holds an earlier wake, and loses nothing', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const id = await subscribe(gateway, donna)
    await using reader = await readWakes(gateway, donna, [id], ['append-only'])
    await begin(gateway, donna)
    await say(gateway, donna, active)
    await mail(gateway, 'open')
    const [open] = await reader.waitFor(1)
    await reader.report(open!.eventId, 'held', 'turn_active')
    await say(gateway, donna, typing)
    const held = await mail(gateway, 'while typing')
    await say(gateway, donna, active)
    await reader.report(open!.eventId, 'turn_started')
    const [, digest] = await reader.waitFor(2)
    expect(refsOf(digest!)).toEqual([held])
    expect(reader.wakes.map(({ eventId }) => eventId)).toEqual([open!.eventId, digest!.eventId])
  })

  test('goes to the next stream, when that one can do what the one before could not', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const id = await subscribe(gateway, donna)
    await using first = await readWakes(gateway, donna, [id], [])
    const held = await mail(gateway, 'nothing is known of her')
    await using second = await readWakes(gateway, donna, [id], ['append-only'])
    const [digest] = await second.waitFor(1)
    expect(refsOf(digest!)).toEqual([held])
    expect(first.wakes).toEqual([])
  })

  // D29
  test('is in the digest of a session that starts, and not sent again with its first report', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const id = await subscribe(gateway, donna)
    await using reader = await readWakes(gateway, donna, [id], ['turn/start'])
    const held = await mail(gateway, 'nobody is there')
    await begin(gateway, donna, { drain: false })
    const [digest] = await reader.waitFor(1)
    expect(refsOf(digest!)).toEqual([held])
    await reader.report(digest!.eventId, 'turn_started')
    await say(gateway, donna, idle)
    await mail(gateway, 'next')
    const [, next] = await reader.waitFor(2)
    expect(next!.body).toMatchObject({ eventType: 'wake/sent_to_me', payload: { subject: 'next' } })
  })

  // D9
  test('is sent once, where two subscriptions of a target held the mail and the task that it began', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const ids = [await subscribe(gateway, donna), await subscribe(gateway, donna, { trigger: 'TASK_STATE_CHANGED' })]
    await using reader = await readWakes(gateway, donna, ids, ['turn/start'])
    await begin(gateway, donna)
    await say(gateway, donna, active)
    await gateway.send('donna', 'work')
    await say(gateway, donna, idle)
    const [digest] = await reader.waitFor(1)
    expect(digest!.body).toMatchObject({ subscriptionId: ids[0], payload: { eventCount: 1, newMessages: 1 } })
    await reader.report(digest!.eventId, 'turn_started')
    await mail(gateway, 'next')
    const [, next] = await reader.waitFor(2)
    expect(next!.body.payload.subject).toBe('next')
  })

  test('is found by the sweep where no report says that it may go: the last one has become old', async () => {
    const clock = new FakeClock()
    await using gateway = await startGateway({ overrides: { clock } })
    const donna = await gateway.addAgent('donna')
    const id = await subscribe(gateway, donna)
    await using reader = await readWakes(gateway, donna, [id], ['append-only'])
    await begin(gateway, donna)
    await say(gateway, donna, typing)
    const held = await mail(gateway, 'she typed, and left')
    const wakes = await until(
      () => {
        clock.advance(5_000)
        return reader.wakes
      },
      ({ length }) => length > 0,
    )
    expect(refsOf(wakes[0]!)).toEqual([held])
  })

  test('survives a restart between the edge and the receipt, and comes once', async () => {
    const first = await startGateway()
    const { dataDir } = first
    const donna = await first.addAgent('donna')
    const id = await subscribe(first, donna)
    const reader = await readWakes(first, donna, [id], ['turn/start'])
    await begin(first, donna)
    await say(first, donna, active)
    const held = await mail(first, 'one')
    await say(first, donna, idle)
    const [digest] = await reader.waitFor(1)
    await reader[Symbol.asyncDispose]()
    await first.stop()
    await using second = await startGateway({ dataDir })
    await using again = await readWakes(second, donna, [id], ['turn/start'])
    const [same] = await again.waitFor(1)
    expect(same!.eventId).toBe(digest!.eventId)
    expect(refsOf(same!)).toEqual([held])
    await again.report(same!.eventId, 'turn_started')
    await say(second, donna, active)
    await say(second, donna, idle)
    await mail(second, 'two')
    const [, two] = await again.waitFor(2)
    expect(two!.body.payload.subject).toBe('two')
    expect((await deliveriesOf(second, donna, id)).length).toBe(2)
  })

  test('costs a report that changes nothing no query', async () => {
    await using engine = await openEngine(async () => arrived)
    const { db } = engine
    await db.transaction((tx) => insertSession(tx, session))
    const reads: number[] = []
    const open = db.transaction.bind(db)
    const counting = vi.spyOn(db, 'transaction').mockImplementation((work) =>
      open(async (tx) => {
        const all = vi.spyOn(tx, 'all')
        const result = await work(tx)
        reads.push(all.mock.calls.length)
        all.mockRestore()
        return result
      }),
    )
    const caller = { kind: 'agent', id: 'agent_donna', projectId: 'default', identity: '@donna' } as Caller
    for (const state of ['active', 'active', 'active', 'idle', 'idle'] as const) {
      const presence = { state, source: 'bridge-daemon' } as const
      await beatSession({ db, changed() {} } as never, caller, session.id, { presence })
    }
    counting.mockRestore()
    expect(reads).toEqual([1, 0, 0, 1, 0])
  })
})

test('an edge is what the policy looks at: the state, the turn, and what the harness can do', () => {
  const before = { state: 'active', activeTurnId: 't', capabilities: ['turn/start'] } as const
  expect(isEdge(before, { ...before })).toBe(false)
  expect(isEdge(before, { ...before, state: 'idle' })).toBe(true)
  expect(isEdge(before, { ...before, activeTurnId: 'u' })).toBe(true)
  expect(isEdge(before, { ...before, capabilities: [] })).toBe(true)
  const subscription = { harnessTarget: 'bridge-daemon', streamCapabilities: ['turn/start'] } as const
  expect(letsThrough(subscription, { state: 'idle', activeTurnId: null, capabilities: [] })).toBe(true)
  expect(letsThrough(subscription, { state: 'active', activeTurnId: 't', capabilities: [] })).toBe(false)
})
