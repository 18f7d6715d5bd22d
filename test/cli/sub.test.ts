import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { attempt, delivery, subscription } from './answers.ts'
import { startStubGateway } from './stub-gateway.ts'
import { run } from './terminal.ts'

const id = 'WAKE_SUB:4e1f'

const made = { subscriptionId: id, harnessTarget: 'a2a-webhook', signingKey: 'whsec_abc' } as const

test('sub add subscribes a webhook with filters and prints the signing key once', async () => {
  await using gateway = await startStubGateway({
    'POST /v1/wake-subscriptions': { status: 201, json: made },
  })
  const argv = ['sub', 'add', '--trigger', 'sent-to-me', '--target-url', 'http://127.0.0.1:9/', '--window', '0']
  argv.push('--priority', 'high', '--concept', 'a', '--concept', 'b', '--sender', '@boss', '--in-reply-to', 'MESSAGE:1')
  const { code, stdout } = await run([...argv, '--url', gateway.url])
  expect(code).toBe(0)
  expect(stdout.match(/whsec_abc/g)).toHaveLength(1)
  expect(gateway.last().body).toEqual({
    trigger: 'SENT_TO_ME',
    filters: {
      taggedConcepts: ['a', 'b'],
      priority: 'high',
      senderFilter: ['@boss'],
      inReplyToFilter: ['MESSAGE:1'],
    },
    harnessTarget: 'a2a-webhook',
    harnessTargetMetadata: { url: 'http://127.0.0.1:9/', coalesceWindow: 0 },
  })
})

test('sub add without filters and window leaves them to the gateway, and knows the old name of the target', async () => {
  await using gateway = await startStubGateway({
    'POST /v1/wake-subscriptions': { status: 201, json: made },
  })
  const argv = [
    'sub',
    'add',
    '--trigger',
    'TASK_STATE_CHANGED',
    '--url-target',
    'http://h/',
    '--agent',
    '@donna',
    '--url',
    gateway.url,
  ]
  await run(argv)
  expect(gateway.last().body).toEqual({
    trigger: 'TASK_STATE_CHANGED',
    agentIdentity: '@donna',
    harnessTarget: 'a2a-webhook',
    harnessTargetMetadata: { url: 'http://h/' },
  })
})

test('sub list and sub show say why no wakes are sent', async () => {
  const degraded = subscription({ subscriptionId: id, status: 'degraded', reason: 'http-500' })
  await using gateway = await startStubGateway({
    'GET /v1/wake-subscriptions': { json: { subscriptions: [degraded], nextPageToken: '' } },
    'GET /v1/wake-subscriptions/:id': { json: degraded },
  })
  const list = await run(['sub', 'list', '--url', gateway.url])
  expect(list.stdout).toContain('degraded (http-500)')
  const show = await run(['sub', 'show', id, '--url', gateway.url])
  expect(show.stdout).toContain('window:        30 s')
  expect(show.stdout).toContain(`rouse sub update ${id} --status active`)
})

test('sub update rotates the key', async () => {
  await using gateway = await startStubGateway({
    'PATCH /v1/wake-subscriptions/:id': {
      json: { subscriptionId: id, currentState: subscription(), signingKey: 'whsec_new' },
    },
  })
  const argv = [
    'sub',
    'update',
    id,
    '--rotate-key',
    '--overlap',
    '3600',
    '--status',
    'active',
    '--target-url',
    'http://h/',
  ]
  const { stdout } = await run([...argv, '--url', gateway.url])
  expect(gateway.last().body).toEqual({
    status: 'active',
    rotateSigningKey: true,
    overlapSeconds: 3600,
    harnessTargetMetadata: { url: 'http://h/' },
  })
  expect(stdout).toContain(`${id} is active.`)
  expect(stdout).toContain('whsec_new')
})

test('sub resync, test, deliveries and rm', async () => {
  await using gateway = await startStubGateway({
    'POST /v1/wake-subscriptions/:id/resync': { json: { subscriptionId: id, eventsReplayed: 3, lastLogId: 44 } },
    'POST /v1/wake-subscriptions/:id/test': { json: { eventId: '01H', attempt: attempt({ status: 500 }) } },
    'GET /v1/wake-subscriptions/:id/deliveries': { json: { deliveries: [delivery()], nextPageToken: '' } },
    'DELETE /v1/wake-subscriptions/:id': { json: { subscriptionId: id, status: 'removed' } },
  })
  const at = ['--url', gateway.url]
  expect((await run(['sub', 'resync', id, '--since', '41', ...at])).stdout).toContain('3 events')
  expect(gateway.last().path).toBe('/v1/wake-subscriptions/WAKE_SUB%3A4e1f/resync')
  expect(gateway.last().body).toEqual({ sinceLogId: 41 })
  const refused = await run(['sub', 'test', id, ...at])
  expect(refused.stdout).toContain('did not accept the test wake: HTTP 500 after 3 ms')
  expect(refused.code).toBe(4)
  const deliveries = await run(['sub', 'deliveries', id, '--limit', '5', ...at])
  expect(gateway.last().query).toEqual({ limit: '5' })
  expect(deliveries.stdout).toContain('42-44')
  expect((await run(['sub', 'rm', id, ...at])).stdout).toBe(`${id} is removed.\n`)
})

test('sub resync says when the log was too long to count', async () => {
  const json = { subscriptionId: id, eventsReplayed: 3, lastLogId: 44, countedTo: 9_000 }
  await using gateway = await startStubGateway({ 'POST /v1/wake-subscriptions/:id/resync': { json } })
  const { stdout } = await run(['sub', 'resync', id, '--since', '0', '--url', gateway.url])
  expect(stdout).toContain('3 events up to logId 9000 are sent again, and what matches after it')
})

test('sub test and sub deliveries show what the reader of a stream says', async () => {
  const at = '2026-04-26T10:00:00.000Z'
  const step = { step: 'held', source: 'codex', reportedBy: '@donna', at, detail: 'turn_active' } as const
  await using gateway = await startStubGateway({
    'POST /v1/wake-subscriptions/:id/test': {
      json: { eventId: '01H', attempt: attempt({ status: null, error: 'held' }), reported: step, waitsSeconds: 50 },
    },
    'GET /v1/wake-subscriptions/:id/deliveries': {
      json: { deliveries: [delivery({ step: 'held', steps: [step] })], nextPageToken: '' },
    },
  })
  const url = ['--url', gateway.url]
  const held = await run(['sub', 'test', id, ...url])
  expect(held.stdout).toMatch(/says: held by codex.*turn_active/)
  expect(held.code).toBe(4)
  expect((await run(['sub', 'deliveries', id, ...url])).stdout).toMatch(
    /delivered +held +1 +held by codex.*turn_active/,
  )
})

test('sub held shows why no wake was sent', async () => {
  const event = { logId: 42, type: 'message.sent', createdAt: '2026-04-26T10:00:00.000Z' } as const
  const held = [{ ...event, action: 'hold_for_next_turn', reason: 'no_route', messageId: 'MESSAGE:1' }] as const
  await using gateway = await startStubGateway({
    'GET /v1/wake-subscriptions/:id/held': { json: { held: [...held], nextPageToken: '' } },
  })
  const { stdout } = await run(['sub', 'held', id, '--limit', '5', '--url', gateway.url])
  expect(gateway.last().query).toEqual({ limit: '5' })
  expect(stdout).toMatch(/42 +message\.sent +hold_for_next_turn +no_route +- +MESSAGE:1 +2026/)
})

test.each<[string[], object]>([
  [['--event', '01H'], { eventId: '01H' }],
  [['--from', '3', '--to', '5'], { fromLogId: 3, toLogId: 5 }],
  [['--failed-since', '2026-04-26T10:00:00Z'], { failedSince: '2026-04-26T10:00:00Z' }],
])('sub replay %j sends %j', async (options, body) => {
  await using gateway = await startStubGateway({
    'POST /v1/wake-subscriptions/:id/replay': { json: { subscriptionId: id, eventsReplayed: 2, earliestLogId: 9 } },
  })
  const { stdout } = await run(['sub', 'replay', id, ...options, '--url', gateway.url])
  expect(gateway.last().body).toEqual(body)
  expect(stdout).toBe('2 events are sent again.\nEvents up to logId 9 are no longer kept.\n')
})

test.each([[[]], [['--from', '3']], [['--event', '01H', '--failed-since', '2026-04-26T10:00:00Z']]])(
  'sub replay with %j is a usage error',
  async (options) => {
    const { code, stderr } = await run(['sub', 'replay', id, ...options])
    expect([code, stderr]).toEqual([2, expect.stringContaining('Name the events')])
  },
)

// D28
test('a subscription that waits for a reader says who fetches its wakes', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const env = { ROUSE_URL: gateway.url, ROUSE_KEY: donna.key }
  const added = await run(['sub', 'add', '--trigger', 'SENT_TO_ME', '--target', 'bridge-daemon'], env)
  const [whole = ''] = added.stdout.match(/WAKE_SUB:\S+/) ?? []
  const how = [`rouse listen --subscription ${whole}`, `GET /v1/wake-stream?subscription=${whole}`]
  for (const text of how) expect(added.stdout).toContain(text)
  expect((await run(['sub', 'list'], env)).stdout).toContain('waiting (no channel is connected)')
  const shown = await run(['sub', 'show', whole], env)
  for (const text of how) expect(shown.stdout).toContain(text)
})

test('sub list --agent shows the subscriptions of one agent; without any, each line fits a terminal', async () => {
  await using gateway = await startGateway()
  const [donna, lola] = [await gateway.addAgent('donna'), await gateway.addAgent('lola')]
  const env = { ROUSE_URL: gateway.url, ROUSE_KEY: gateway.adminKey }
  const none = await run(['sub', 'list'], env)
  expect(none.stdout).toContain('rouse listen')
  for (const line of none.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
  const { id } = await gateway.subscribe(donna, 'http://127.0.0.1:9/')
  await gateway.subscribe(lola, 'http://127.0.0.1:9/')
  for (const name of ['@donna', 'donna']) {
    const { stdout } = await run(['sub', 'list', '--agent', name, '--json'], env)
    expect(JSON.parse(stdout).subscriptions.map((one: { subscriptionId: string }) => one.subscriptionId)).toEqual([id])
  }
})
