import { createHmac, randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { problem, type StubRequest, startStubGateway } from './stub-gateway.ts'
import { start, type Terminal } from './terminal.ts'

const key = `whsec_${randomBytes(32).toString('base64')}`
const subscribed = { subscriptionId: 'WAKE_SUB:1', harnessTarget: 'a2a-webhook', signingKey: key } as const
const removed = { subscriptionId: 'WAKE_SUB:1', status: 'removed' } as const
const otherKey = `whsec_${randomBytes(32).toString('base64')}`

function wake(over: Record<string, unknown> = {}) {
  return {
    schemaVersion: '1.0',
    eventType: 'wake/sent_to_me',
    eventId: '01HWAKE0000000000000000001',
    logId: 7,
    prevLogId: null,
    agentIdentity: '@donna',
    subscriptionId: 'WAKE_SUB:1',
    payload: { messageId: 'MESSAGE:1', from: '@boss', subject: 'Review PR 7', taskId: 't1' },
    emittedAt: '2026-04-26T10:00:00.000Z',
    ...over,
  }
}

interface SendOptions {
  signWith?: string
  timestamp?: number
  neo?: string
}

/** Signs as the wire contract says, apart from the code under test. */
async function deliver(url: string, event: { eventId: string }, options: SendOptions = {}): Promise<number> {
  const body = JSON.stringify(event)
  const { signWith = key, timestamp = Math.floor(Date.now() / 1000) } = options
  const standard = createHmac('sha256', Buffer.from(signWith.slice('whsec_'.length), 'base64'))
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-neo-wake-signature': options.neo ?? createHmac('sha256', signWith).update(body).digest('hex'),
      'x-neo-wake-event-id': event.eventId,
      'webhook-id': event.eventId,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': `v1,${standard.update(`${event.eventId}.${timestamp}.${body}`).digest('base64')}`,
    },
  })
  await response.arrayBuffer()
  return response.status
}

async function listening(...argv: string[]): Promise<{ terminal: Terminal; url: string }> {
  const terminal = start(['listen', '--signing-key', key, ...argv])
  const [, url] = await terminal.until(/Listening on (\S+)/)
  return { terminal, url: url! }
}

async function stop(terminal: Terminal): Promise<void> {
  terminal.interrupt()
  expect(await terminal.code).toBe(130)
}

test('a signed wake is accepted and printed in one line', async () => {
  const { terminal, url } = await listening('--path', 'wake')
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/wake$/)
  expect(await deliver(url, wake())).toBe(200)
  await terminal.until(/Review PR 7/)
  await stop(terminal)
  expect(terminal.stdout()).toBe('2026-04-26T10:00:00.000Z  #7  wake/sent_to_me  @donna  from @boss: Review PR 7\n')
})

test('--json prints the wake itself, one a line', async () => {
  const { terminal, url } = await listening('--json')
  await deliver(url, wake())
  await terminal.until(/\n/)
  await stop(terminal)
  expect(JSON.parse(terminal.stdout())).toEqual(wake())
})

test('a retry of the same wake is acknowledged and shown once', async () => {
  const { terminal, url } = await listening('--json')
  expect(await deliver(url, wake())).toBe(200)
  expect(await deliver(url, wake())).toBe(200)
  expect(await deliver(url, wake({ eventId: '01HWAKE0000000000000000002', logId: 8, prevLogId: 7 }))).toBe(200)
  await terminal.until(/0002/)
  await stop(terminal)
  expect(terminal.stdout().trimEnd().split('\n')).toHaveLength(2)
})

test.each<[string, SendOptions]>([
  ['another key', { signWith: otherKey }],
  ['an old timestamp', { timestamp: Math.floor(Date.now() / 1000) - 3600 }],
  ['only one right signature', { neo: 'ab'.repeat(32) }],
])('a wake with %s is answered 401 and not shown', async (_what, options) => {
  const { terminal, url } = await listening()
  expect(await deliver(url, wake(), options)).toBe(401)
  await terminal.until(/a wrong signature/)
  await stop(terminal)
  expect(terminal.stdout()).toBe('')
})

test('during a rotation either key is right', async () => {
  const { terminal, url } = await listening('--signing-key', otherKey)
  expect(await deliver(url, wake(), { signWith: otherKey })).toBe(200)
  expect(await deliver(url, wake({ eventId: '01HWAKE0000000000000000002' }))).toBe(200)
  await stop(terminal)
})

test('the key may come from the environment', async () => {
  const terminal = start(['listen'], { ROUSE_SIGNING_KEY: key })
  const [, url] = await terminal.until(/Listening on (\S+)/)
  expect(await deliver(url!, wake())).toBe(200)
  await stop(terminal)
})

test('only POST on its path is accepted, and an endless body is not read', async () => {
  const { terminal, url } = await listening()
  expect((await fetch(url)).status).toBe(405)
  expect((await fetch(`${url}other`, { method: 'POST' })).status).toBe(404)
  expect((await fetch(url, { method: 'POST', body: 'x'.repeat(1024 * 1024 + 1) })).status).toBe(413)
  await stop(terminal)
})

test('a hole before a wake is pointed out', async () => {
  const { terminal, url } = await listening()
  await deliver(url, wake())
  await deliver(url, wake({ eventId: '01HWAKE0000000000000000003', logId: 9, prevLogId: 8 }))
  await terminal.until(/rouse sub resync WAKE_SUB:1 --since 7/)
  await stop(terminal)
})

test('--exec gets the wake on its input and the ids in its environment, and nothing of it becomes a command', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'rouse-exec-')), 'out')
  const script = `cat >> ${file}; echo "$ROUSE_EVENT_TYPE|$ROUSE_EVENT_ID|$ROUSE_LOG_ID|$ROUSE_TASK_ID|$ROUSE_SUBSCRIPTION_ID|$ROUSE_SIGNING_KEY|$ROUSE_KEY|$ROUSE_ADMIN_KEY|$ROUSE_DATABASE_URL|$ROUSE_KEY_FILE|$KEPT" >> ${file}; echo ran`
  const secrets = {
    ROUSE_SIGNING_KEY: key,
    ROUSE_KEY: 'rk_x',
    ROUSE_ADMIN_KEY: 'rk_y',
    ROUSE_DATABASE_URL: 'postgres://a:b@c',
  }
  const env = { ...process.env, ...secrets, ROUSE_KEY_FILE: 'donna.key', KEPT: 'kept' }
  const terminal = start(['listen', '--exec', script], env)
  const [, url] = await terminal.until(/Listening on (\S+)/)
  const evil = wake({ payload: { subject: '$(touch /tmp/pwned) `id` ; exit 9', from: '@x', taskId: '$(id)' } })
  await deliver(url!, evil)
  await terminal.until(/^ran$/m)
  await stop(terminal)
  const [json, variables] = readFileSync(file, 'utf8').trimEnd().split('\n')
  expect(JSON.parse(json!)).toEqual(evil)
  expect(variables).toBe('wake/sent_to_me|01HWAKE0000000000000000001|7| $(id)|WAKE_SUB:1|||||donna.key|kept')
})

test.each([
  [true, 'title[31mred'],
  [false, '\u001b]0;title\u0007\u001b[31mred'],
])(
  'what a command prints sets no title of a terminal (%s), and is not changed elsewhere',
  async (isTerminal, shown) => {
    const script = "printf '\\033]0;title\\007\\033[31mred\\n'"
    const env = { ...process.env, ROUSE_SIGNING_KEY: key }
    const terminal = start(['listen', '--exec', script], env, { isTerminal })
    const [, url] = await terminal.until(/Listening on (\S+)/)
    await deliver(url!, wake())
    await terminal.until(/red\n/)
    await stop(terminal)
    expect(terminal.stdout()).toContain(isTerminal ? `]0;${shown}` : shown)
    expect(terminal.stdout().includes('\u001b')).toBe(!isTerminal)
  },
)

test('--exec runs one command at a time, in order, and reports a failure', async () => {
  const { terminal, url } = await listening(
    '--json',
    '--exec',
    'echo "start $ROUSE_LOG_ID"; sleep 0.05; echo "end $ROUSE_LOG_ID"; exit 3',
  )
  for (const logId of [1, 2, 3]) await deliver(url, wake({ eventId: `01HWAKE000000000000000000${logId}`, logId }))
  await terminal.until(/exit code 3 for wake 01HWAKE0000000000000000003/)
  await stop(terminal)
  const lines = terminal
    .stderr()
    .split('\n')
    .filter((line) => /^(start|end)/.test(line))
  expect(lines).toEqual(['start 1', 'end 1', 'start 2', 'end 2', 'start 3', 'end 3'])
  expect(terminal.stdout().trimEnd().split('\n')).toHaveLength(3)
})

test('Ctrl-C stops a running command and lists the wakes that were not handled', async () => {
  const { terminal, url } = await listening('--exec', 'echo begun; sleep 60; true')
  await deliver(url, wake())
  await deliver(url, wake({ eventId: '01HWAKE0000000000000000002', logId: 8, prevLogId: 7 }))
  await terminal.until(/begun/)
  await stop(terminal)
  expect(terminal.stderr()).toContain('SIGTERM')
  expect(terminal.stderr()).toContain('not handled: 1, from wake/sent_to_me #8 on')
})

test('--subscribe registers its own address, receives its wakes and removes the subscription', async () => {
  let early: Promise<number> | undefined
  await using gateway = await startStubGateway({
    'POST /v1/wake-subscriptions': (request: StubRequest) => {
      const { url } = (request.body as { harnessTargetMetadata: { url: string } }).harnessTargetMetadata
      // A wake may overtake the answer that carries its key.
      early = deliver(url, wake())
      return { status: 201, json: subscribed }
    },
    'DELETE /v1/wake-subscriptions/:id': { json: removed },
  })
  const terminal = start([
    'listen',
    '--port',
    '0',
    '--subscribe',
    'sent_to_me',
    '--url',
    gateway.url,
    '--key',
    'rk_donna',
  ])
  await terminal.until(/Subscribed to SENT_TO_ME as WAKE_SUB:1/)
  expect(await early).toBe(200)
  await terminal.until(/Review PR 7/)
  await stop(terminal)
  expect(gateway.requests.map((request) => `${request.method} ${request.path}`)).toEqual([
    'POST /v1/wake-subscriptions',
    'DELETE /v1/wake-subscriptions/WAKE_SUB%3A1',
  ])
  expect(gateway.requests[0]!.headers.authorization).toBe('Bearer rk_donna')
  expect(gateway.requests[0]!.body).toEqual({
    trigger: 'SENT_TO_ME',
    harnessTarget: 'a2a-webhook',
    harnessTargetMetadata: { url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/$/), coalesceWindow: 0 },
  })
})

test('a refused subscription ends it and removes the earlier ones', async () => {
  await using gateway = await startStubGateway({
    'POST /v1/wake-subscriptions': (request) =>
      (request.body as { trigger: string }).trigger === 'SENT_TO_ME'
        ? { status: 201, json: subscribed }
        : problem(403, 'forbidden', 'This key is not allowed to do that'),
    'DELETE /v1/wake-subscriptions/:id': { json: removed },
  })
  const argv = [
    'listen',
    '--port',
    '0',
    '--subscribe',
    'SENT_TO_ME',
    '--subscribe',
    'PERMISSION_GRANTED',
    '--url',
    gateway.url,
  ]
  const terminal = start(argv)
  expect(await terminal.code).toBe(1)
  expect(terminal.stderr()).toContain('This key is not allowed to do that (forbidden)')
  expect(gateway.last().method).toBe('DELETE')
})
