import { describe, expect, test } from 'vitest'
import { routeEvidence, type SubscriptionFacts } from '../../src/cli/wake-test/evidence.ts'
import { atTestEnd } from '../support/ends.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { readWakes } from '../support/wake-reader.ts'
import { run, start } from './terminal.ts'

const env = (gateway: TestGateway, key = gateway.adminKey) => ({ ROUSE_URL: gateway.url, ROUSE_KEY: key })

describe('rouse wake test', () => {
  test('a webhook that answers 200 has proved that it was written, and no more', async () => {
    await using gateway = await startGateway()
    await using receiver = await startReceiver()
    const donna = await gateway.addAgent('donna')
    await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
    const { code, stdout } = await run(['wake', 'test', '@donna', '--wait', '1', '--json'], env(gateway))
    expect(code).toBe(0)
    const { message, routes, nonce } = JSON.parse(stdout)
    expect(message).toMatchObject({ receipt: 'written', deliveryMethod: 'push', afterMs: expect.any(Number) })
    expect(routes).toMatchObject([{ route: 'webhook', step: 'written', detail: 'HTTP 200' }])
    expect(receiver.wakes[0]!.raw).toContain(nonce)
  })

  test('a stream whose reader has the wake has proved that it was delivered', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const listener = start(['listen'], env(gateway, donna.key))
    atTestEnd(async () => {
      listener.interrupt()
      await listener.code
    })
    await listener.until(/Listening to/)
    const { stdout } = await run(['wake', 'test', '@donna', '--wait', '1', '--json'], env(gateway))
    expect(JSON.parse(stdout).routes).toMatchObject([{ route: 'stream', step: 'delivered' }])
  })

  test('a stream whose reader holds the wake says so, with the reason, the source and the time', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const request = {
      trigger: 'SENT_TO_ME',
      harnessTarget: 'bridge-daemon',
      harnessTargetMetadata: { coalesceWindow: 0 },
    }
    const { body } = await gateway.call('POST', '/v1/wake-subscriptions', request, { key: donna.key })
    await using reader = await readWakes(gateway, donna, [body.subscriptionId], ['append-only'])
    const testing = start(['wake', 'test', '@donna', '--wait', '2'], env(gateway))
    const [wake] = await reader.waitFor(1)
    await reader.report(wake!.eventId, 'held', 'turn_active: it works', { source: 'codex: thread/status' })
    expect(await testing.code, 'it is not woken').toBe(4)
    expect(testing.stdout()).toMatch(/stream +WAKE_SUB:\S+ +held +codex: thread\/status .*turn_active: it works/)
    expect(testing.stdout()).toMatch(/wake: +held by codex: thread\/status at /)
  })

  test('it ends at once when the agent has acknowledged', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const testing = start(['wake', 'test', '@donna', '--wait', '600'], env(gateway))
    const inbox = () => gateway.call('GET', '/v1/inbox', undefined, { key: donna.key })
    const { body } = await until(inbox, ({ body }) => body.messages.length > 0)
    const id = body.messages[0].messageId
    await gateway.call('POST', `/v1/messages/${id}/status`, { status: 'acked' }, { key: donna.key })
    expect(await testing.code).toBe(0)
    expect(testing.stderr(), 'each proof as it comes').toMatch(
      /^accepted; waits for up to 600 s\n(.*\n)*acked after \d+ ms\n$/,
    )
    expect(testing.stdout()).toMatch(/proved: +acked after \d+ ms/)
    expect(testing.stdout()).toContain('Nothing wakes it')
  })

  test('an agent that nothing wakes makes it exit with 4', async () => {
    await using gateway = await startGateway()
    await gateway.addAgent('donna')
    const { code, stdout } = await run(['wake', 'test', '@donna', '--wait', '0'], env(gateway))
    expect([code, stdout]).toEqual([4, expect.stringContaining('Nothing wakes it')])
  })

  test('another agent sees what its message has proved, and no subscriptions', async () => {
    await using gateway = await startGateway()
    await gateway.addAgent('donna')
    const mike = await gateway.addAgent('mike')
    const { code, stdout } = await run(['wake', 'test', '@donna', '--wait', '0'], env(gateway, mike.key))
    expect(code, 'nothing has reached it').toBe(4)
    expect(stdout).toContain('not visible with this key')
  })
})

const sentAt = '2026-04-26T10:00:00.000Z'
const attempt = { at: sentAt, durationMs: 1 }
const tried = (
  fields: Partial<SubscriptionFacts> & { target?: string; status?: string; reason?: string },
): SubscriptionFacts => ({
  subscription: {
    subscriptionId: 'WAKE_SUB:1',
    harnessTarget: (fields.target ?? 'a2a-webhook') as 'a2a-webhook',
    status: (fields.status ?? 'active') as 'active',
    reason: fields.reason ?? null,
  },
  deliveries: fields.deliveries ?? [],
  held: fields.held,
})
const record = (outcome: 'delivered' | 'failed' | 'pending', status: number | null, error: string | null = null) => ({
  outcome,
  step: null,
  attempts: [{ ...attempt, status, error }],
  updatedAt: '2026-04-26T10:00:00.250Z',
})

test('a stream has proved what its reader said of the newest wake, with its source and its time', () => {
  const said = (step: 'held' | 'turn_started', detail?: string) =>
    ({
      step,
      source: 'codex: turn/started',
      reportedBy: '@donna',
      at: '2026-04-26T10:00:01.000Z',
      ...(detail ? { detail } : {}),
    }) as const
  const held = { ...record('pending', null), step: 'held', steps: [said('held', 'turn_active: it works')] } as const
  const about = { route: 'stream', subscriptionId: 'WAKE_SUB:1', source: 'codex: turn/started', afterMs: 1_000 }
  expect(routeEvidence(tried({ target: 'bridge-daemon', deliveries: [held] }), sentAt)).toMatchObject({
    ...about,
    step: 'held',
    detail: 'turn_active: it works',
  })
  const begun = {
    ...record('delivered', null),
    step: 'turn_started',
    steps: [...held.steps, said('turn_started')],
  } as const
  expect(routeEvidence(tried({ target: 'bridge-daemon', deliveries: [begun, held] }), sentAt)).toMatchObject({
    ...about,
    step: 'turn_started',
    detail: '',
  })
})

// D11, D14
test.each([
  [tried({ deliveries: [record('delivered', 200)] }), 'webhook', 'written', 250, 'HTTP 200'],
  [tried({ target: 'mcp-notifications', deliveries: [record('delivered', null)] }), 'mcp', 'written', 250, ''],
  [tried({ target: 'bridge-daemon', deliveries: [record('delivered', null)] }), 'stream', 'delivered', 250, ''],
  [tried({ deliveries: [record('failed', 500)] }), 'webhook', null, null, 'failed: HTTP 500'],
  [tried({ deliveries: [record('pending', null, 'timeout')] }), 'webhook', null, null, 'pending: timeout'],
  [tried({ status: 'degraded', reason: 'http 410' }), 'webhook', null, null, 'degraded: http 410'],
  [tried({ target: 'none' }), 'none', null, null, 'nothing was sent'],
  [tried({ held: { action: 'store_only', reason: 'own_act' } }), 'webhook', null, null, 'held: own_act'],
  [
    tried({ status: 'paused', reason: 'session ended', held: { action: 'wait', reason: 'paused' } }),
    'webhook',
    null,
    null,
    'paused: session ended',
  ],
] as const)('evidence %#', (given, route, step, afterMs, detail) => {
  expect(routeEvidence(given, sentAt)).toEqual({ route, subscriptionId: 'WAKE_SUB:1', step, afterMs, detail })
})
