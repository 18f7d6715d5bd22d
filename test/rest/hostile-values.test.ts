import fc from 'fast-check'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { projectLimits } from '../../src/limits.ts'
import { type Answer, startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { logLines } from '../support/log-lines.ts'
import { readWakes } from '../support/wake-reader.ts'

const connections = new Agent()
const { log, lines } = logLines('warn')
let gateway: TestGateway
let mallory: TestAgent
let taskId: string
let messageId: string
let subscriptionId: string
let sessionId: string
let eventId: string

beforeAll(async () => {
  gateway = await startGateway({
    env: {
      ROUSE_BLOCKING_TIMEOUT: '0',
      ROUSE_MESSAGES_PER_MINUTE: '0',
      ROUSE_STORM_TURNS: '0',
      ROUSE_STORM_MESSAGES: '0',
    },
    overrides: { log },
  })
  // Rates would refuse requests before their values are checked.
  const limits = Object.fromEntries(Object.keys(projectLimits).map((name) => [name, 0]))
  const set = await gateway.call('PATCH', '/v1/projects/default', { limits })
  expect(set.status).toBe(200)
  mallory = await gateway.addAgent('mallory')
  await gateway.addAgent('donna')
  await gateway.call('POST', '/v1/projects', { project: 'elsewhere' })
  taskId = (await gateway.send('mallory', 'to myself', { key: mallory.key })).id
  const mail = await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 's' }, { key: mallory.key })
  messageId = mail.body.messageId
  subscriptionId = (await gateway.subscribe(mallory, 'http://127.0.0.1:9/')).id
  const session = await gateway.call('POST', '/v1/sessions', { surface: 'codex' }, { key: mallory.key })
  sessionId = session.body.sessionId
  eventId = await wakeOf(mallory)
})

/** Makes a subscription that is read as a stream, and returns the id of a wake on it. */
async function wakeOf(agent: TestAgent): Promise<string> {
  const reader = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon', harnessTargetMetadata: { coalesceWindow: 0 } }
  const made = await gateway.call('POST', '/v1/wake-subscriptions', reader, { key: agent.key })
  await using wakes = await readWakes(gateway, agent, [made.body.subscriptionId])
  await gateway.send('mallory', 'a wake')
  const [wake] = await wakes.waitFor(1)
  return wake!.eventId
}

// A value that is refused must not be kept either, where the store cannot take it.
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  expect(lines.filter(({ event }) => event.startsWith('audit.'))).toEqual([])
})

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

const words = fc.constantFrom(
  '',
  'x',
  '\0',
  '\ud800',
  '\udc00x',
  '\u202e',
  '\u2028',
  'a\nb',
  '\u001b[31m',
  '__proto__',
  'constructor',
  'toString',
  '@donna',
  '*',
  'default:@donna',
  '../../healthz',
  '%00',
  "'; drop table task; --",
  'é'.repeat(300),
  '😀'.repeat(300),
  'x'.repeat(5_000),
  '2026-04-26T10:00:00.000Z',
  '+275760-09-13T00:00:00.000Z',
)
const numbers = fc.constantFrom(0, -1, 0.0005, 1.5, 1e308, -1e308, 2 ** 31, 2 ** 53, 2 ** 63, 2 ** 64, 5e-324)
/** Any UTF-16 code units, halves of surrogate pairs too. For `fc.string` of such units fast-check builds a table of all of them. */
function anyText(maxLength: number): fc.Arbitrary<string> {
  return fc.array(fc.nat(0xffff), { maxLength }).map((units) => String.fromCharCode(...units))
}

const leaf: fc.Arbitrary<Json> = fc.oneof(words, numbers, fc.constant(null), fc.boolean(), anyText(10))
const hostile: fc.Arbitrary<Json> = fc.oneof(
  { weight: 6, arbitrary: leaf },
  { weight: 1, arbitrary: fc.array(leaf, { maxLength: 4 }) },
  { weight: 1, arbitrary: fc.constant(Array.from({ length: 1_500 }, (_, n) => `${n}`)) },
  { weight: 1, arbitrary: fc.dictionary(words, leaf, { maxKeys: 3 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Json>({ toString: 1 }, { valueOf: null }, { toJSON: 'x' }, [[]], [{}], [null], {
      length: 1_000_000_000,
    }),
  },
)

/** The paths of the values of a document, each of which may be replaced. */
function places(document: Json, path: (string | number)[] = []): (string | number)[][] {
  if (typeof document !== 'object' || document === null) return [path]
  const entries = Array.isArray(document) ? [...document.entries()] : Object.entries(document)
  return [path, ...entries.flatMap(([key, value]) => places(value, [...path, key]))]
}

function replaced(document: Json, path: readonly (string | number)[], value: Json): Json {
  const [key, ...rest] = path
  if (key === undefined) return value
  if (Array.isArray(document))
    return document.map((item, index) => (index === key ? replaced(item, rest, value) : item))
  const object = document as { [key: string]: Json }
  return { ...object, [key]: replaced(object[key] ?? null, rest, value) }
}

/** A document with one unexpected value, changed or added. */
function mutant(document: Json): fc.Arbitrary<Json> {
  const added = fc.record({ key: words, value: hostile }).map(({ key, value }) => {
    return typeof document === 'object' && document !== null ? ({ ...document, [key]: value } as Json) : value
  })
  const changed = fc
    .record({ path: fc.constantFrom(...places(document)), value: hostile })
    .map(({ path, value }) => replaced(document, path, value))
  return fc.oneof({ weight: 8, arbitrary: changed }, { weight: 1, arbitrary: added })
}

const message: Json = {
  messageId: 'm',
  role: 'ROLE_USER',
  contextId: '',
  taskId: '',
  parts: [
    { text: 'hello', mediaType: 'text/plain', filename: 'f', metadata: { a: 1 } },
    { data: { a: [1] } },
    { raw: 'AAAA' },
    { url: 'http://127.0.0.1/' },
  ],
  extensions: ['urn:x'],
  referenceTaskIds: [],
  metadata: { taggedConcepts: ['a'], priority: 'high', wakePolicy: 'silent', expiresAt: '2026-04-26T10:00:00.000Z' },
}
const push: Json = {
  id: 'c',
  url: 'http://127.0.0.1:9/',
  token: 't',
  authentication: { scheme: 'Bearer', credentials: 'c' },
}
const artifact: Json = {
  artifactId: 'a',
  name: 'n',
  description: 'd',
  parts: [{ text: 'x' }],
  metadata: {},
  extensions: [],
}
const metadata: Json = {
  url: 'http://127.0.0.1:9/',
  coalesceWindow: 0,
  coalesceMode: 'leading',
  maxInFlight: 2,
  daemonSocketPath: '/s',
  reader: 'rouse bridge',
}
const filters: Json = { taggedConcepts: ['a'], priority: 'high', senderFilter: ['donna'], inReplyToFilter: ['m'] }

/** Every endpoint that takes a body, with one that it takes. */
const bodies: [method: string, path: () => string, body: Json | (() => Json), as?: 'operator'][] = [
  [
    'POST',
    () => '/v1/agents',
    {
      handle: 'new',
      displayName: 'N',
      description: 'd',
      aliases: ['n'],
      skills: [{ id: 'i', name: 'n', tags: ['t'] }],
      inputModes: ['a/b'],
      access: 'public',
    },
    'operator',
  ],
  [
    'PATCH',
    () => '/v1/agents/mallory',
    {
      displayName: 'MalloryTwo',
      description: 'd',
      skills: [{ id: 'i', name: 'n', description: 'd', tags: ['t'], examples: ['e'] }],
      outputModes: ['a/b'],
    },
  ],
  [
    'POST',
    () => '/v1/agents/mallory/keys',
    { label: 'l', scopes: ['read'], expiresAt: '2046-04-26T10:00:00.000Z', expiresInSeconds: 60 },
  ],
  [
    'POST',
    () => '/v1/operator-keys',
    { label: 'l', role: 'viewer', projects: ['p'], expiresInSeconds: 60 },
    'operator',
  ],
  ['PATCH', () => '/v1/projects/elsewhere', { limits: { streams: 1, keys: null } }, 'operator'],
  ['POST', () => '/v1/tokens/revoke', { token: 't' }, 'operator'],
  ['POST', () => '/v1/tokens/revoke', { keyId: `jwt:${'0'.repeat(32)}`, minted: true }, 'operator'],
  [
    'POST',
    () => '/v1/wake-subscriptions',
    { trigger: 'SENT_TO_ME', filters, harnessTarget: 'a2a-webhook', harnessTargetMetadata: metadata },
  ],
  [
    'PATCH',
    () => `/v1/wake-subscriptions/${subscriptionId}`,
    { filters, harnessTargetMetadata: metadata, rotateSigningKey: true, overlapSeconds: 1 },
  ],
  ['POST', () => `/v1/wake-subscriptions/${subscriptionId}/resync`, { sinceLogId: 0 }],
  ['POST', () => `/v1/wake-subscriptions/${subscriptionId}/replay`, { fromLogId: 1, toLogId: 2 }],
  ['POST', () => `/v1/wake-subscriptions/${subscriptionId}/replay`, { failedSince: '2026-04-26T10:00:00.000Z' }],
  [
    'POST',
    () => `/v1/tasks/${taskId}/transitions`,
    { to: 'working', expectedVersion: 1, message, artifacts: [artifact] },
  ],
  ['POST', () => `/v1/tasks/${taskId}/artifacts`, { artifact, append: false, lastChunk: true }],
  [
    'POST',
    () => '/v1/messages',
    {
      to: '@donna',
      subject: 's',
      body: 'b',
      signalType: 'x-Mine',
      payload: { a: 1 },
      type: 'msg',
      ref: 'r',
      priority: 'high',
      wakePolicy: 'silent',
      taggedConcepts: ['a'],
      inReplyTo: 'MESSAGE:x',
    },
  ],
  [
    'POST',
    () => '/v1/messages',
    { to: '@donna', signalType: 'ReviewRequested', payload: { spec_id: 'a', instructions: 'b' } },
  ],
  ['POST', () => `/v1/messages/${messageId}/status`, { status: 'seen' }],
  // Before a newer session ends this one.
  [
    'PUT',
    () => `/v1/sessions/${sessionId}`,
    {
      presence: { state: 'active', source: 'bridge-daemon', activeTurnId: 't', capabilities: ['a'] },
      harness: { cwd: '/c', sessionId: 'h' },
    },
  ],
  [
    'POST',
    () => '/v1/sessions',
    { surface: 'codex', capabilities: ['a'], pid: 1, startedAt: '2026-04-26T10:00:00.000Z' },
  ],
  ['PUT', () => '/v1/presence', { state: 'active', source: 'bridge-daemon', activeTurnId: 't', capabilities: ['a'] }],
  ['POST', () => '/v1/inbox/returns', () => ({ sessionId, messageIds: [messageId] })],
  [
    'POST',
    () => '/v1/wake-stream/receipts',
    () => [{ eventId, step: 'written', at: '2026-04-26T10:00:00.000Z', detail: 'd', source: 's', isFinal: true }],
  ],
  ['POST', () => '/v1/permissions', { grantee: '@donna', scope: 'CAN_REPLY_TO' }],
  ['POST', () => '/v1/claims', { ref: 'r' }],
  ['POST', () => '/v1/claims/handoff', { ref: 'r', to: '@donna', message: 'm' }],
  ['DELETE', () => '/v1/claims', { ref: 'r' }],
  ['POST', () => '/v1/projects', { project: 'p' }, 'operator'],
  ['POST', () => '/v1/event-types/poll', { name: 'mail.received', maxAgeMs: 1, maxEvents: 1, timeoutMs: 0 }],
  ['PUT', () => '/v1/presence', { state: 'idle', contextTokens: 1 }],
  [
    'PUT',
    () => '/v1/recovery/bridge',
    { startedAt: '2026-04-26T10:00:00.000Z', starts: 1, restart: 'none', seen: false },
  ],
]

test('a number with a fraction is never a failure', async () => {
  for (const [method, path, body, as] of bodies) {
    const key = as === 'operator' ? gateway.adminKey : mallory.key
    const document = typeof body === 'function' ? body() : body
    const isNumber = (place: (string | number)[]) =>
      typeof place.reduce<unknown>((value, step) => (value as Record<string, unknown>)[step], document) === 'number'
    for (const place of places(document).filter(isNumber)) {
      // A poll waits for as long as it may.
      for (const fraction of [0.5, place.at(-1) === 'timeoutMs' ? 500.5 : 61_000.5]) {
        const sent = JSON.stringify(replaced(document, place, fraction))
        expectNoFailure(await gateway.call(method, path(), sent, { key, headers: json }))
      }
    }
  }
})

test.each(bodies)('%s %s answers no value with a failure of its own', async (method, path, body, as) => {
  const key = as === 'operator' ? gateway.adminKey : mallory.key
  await fc.assert(
    fc.asyncProperty(mutant(typeof body === 'function' ? body() : body), async (sent) => {
      expectNoFailure(await gateway.call(method, path(), JSON.stringify(sent), { key, headers: json }))
    }),
    { numRuns: 40 },
  )
})

const json = { 'content-type': 'application/json' }

const queries: [path: () => string, names: string[], as?: 'operator'][] = [
  [() => '/v1/tasks', ['role', 'state', 'contextId', 'pageSize', 'pageToken', 'historyLength', 'includeArtifacts']],
  [() => `/v1/tasks/${taskId}`, ['historyLength']],
  [() => '/v1/inbox', ['unread', 'thread', 'signalType', 'type', 'since', 'order', 'agent', 'limit', 'pageToken']],
  [() => '/v1/messages', ['limit', 'pageToken']],
  [() => `/v1/tasks/${taskId}/messages`, ['limit', 'pageToken']],
  [() => `/v1/tasks/${taskId}/artifacts`, ['limit', 'pageToken']],
  [() => '/v1/agents', ['limit', 'pageToken']],
  [() => '/v1/audit', ['since', 'limit', 'pageToken', 'actor', 'operation', 'outcome'], 'operator'],
  [() => '/v1/sessions', ['status', 'limit', 'pageToken']],
  [() => '/v1/permissions', ['scope', 'grantor', 'grantee']],
  [() => '/v1/claims', ['ref', 'owner', 'limit', 'pageToken']],
  [() => '/v1/events', ['since', 'limit']],
  [() => '/v1/catalog', ['skill', 'tag', 'q', 'limit', 'pageToken']],
  [() => '/v1/wake-subscriptions', ['agent']],
  [() => `/v1/wake-subscriptions/${subscriptionId}/deliveries`, ['limit', 'pageToken']],
  [() => `/v1/wake-subscriptions/${subscriptionId}/held`, ['limit', 'pageToken']],
]

test.each(queries)('a query of %s is never a failure', async (path, names, as) => {
  const key = as === 'operator' ? gateway.adminKey : mallory.key
  const query = fc.dictionary(
    fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...names) }, { weight: 1, arbitrary: words }),
    scalar,
    { minKeys: 1, maxKeys: 3 },
  )
  await fc.assert(
    fc.asyncProperty(query, async (given) => {
      const search = Object.entries(given).map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
      expectNoFailure(await gateway.call('GET', `${path()}?${search.join('&')}`, undefined, { key }))
    }),
    { numRuns: 25 },
  )
})

const scalar = fc.oneof(words, numbers.map(String), anyText(20))

test('an id in a path is never a failure', async () => {
  const route = fc.constantFrom(
    '/v1/agents/*',
    '/v1/agents/*/keys',
    '/v1/agents/mallory/keys/*',
    '/v1/tasks/*',
    '/v1/tasks/*/messages',
    '/v1/tasks/*/artifacts',
    '/v1/messages/*',
    '/v1/threads/*',
    '/v1/sessions/*',
    '/v1/permissions/*',
    '/v1/operator-keys/*',
    '/v1/projects/*',
    '/v1/wake-subscriptions/*',
    '/v1/wake-subscriptions/*/deliveries',
    '/v1/wake-subscriptions/*/held',
    '/agents/*/tasks',
    '/agents/*/.well-known/agent-card.json',
    '/projects/*/agents/donna/tasks',
    '/agents/mallory/tasks/*',
    '/agents/mallory/v1/tasks/*',
    '/agents/mallory/tasks/*/pushNotificationConfigs/*',
    '/agents/mallory/tasks/*:subscribe',
    '/agents/mallory/*/tasks',
  )
  await fc.assert(
    fc.asyncProperty(route, scalar, fc.constantFrom('GET', 'DELETE', 'POST'), async (path, id, method) => {
      const url = path.replaceAll('*', () => encoded(id) || '%20')
      expectNoFailure(await gateway.call(method, url, undefined, { key: mallory.key }))
    }),
    { numRuns: 300 },
  )
})

test('a header is never a failure', async () => {
  const name = fc.constantFrom(
    'idempotency-key',
    'rouse-session',
    'rouse-project',
    'if-match',
    'last-event-id',
    'a2a-version',
    'accept',
  )
  const value = fc.oneof(
    fc.constantFrom(
      '',
      'x',
      '1e308',
      '"1"',
      `"${'9'.repeat(30)}"`,
      '-1',
      '9'.repeat(15),
      'x'.repeat(5_000),
      '\u0080\u009f',
      'application/json',
      '__proto__',
    ),
    fc.string({ maxLength: 10, unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) }),
  )
  const sent = fc.constantFrom(
    ['POST', '/v1/messages', '{"to":"@donna","subject":"s"}'],
    ['GET', '/v1/tasks', undefined],
    [
      'POST',
      '/agents/mallory/message:send',
      '{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]},"configuration":{"returnImmediately":true}}',
    ],
    ['POST', '/v1/tasks/nix/transitions', '{"to":"working"}'],
  )
  await fc.assert(
    fc.asyncProperty(name, value, sent, async (header, text, [method, path, body]) => {
      expectNoFailure(
        await gateway.call(method!, path!, body, { key: mallory.key, headers: { ...json, [header]: text } }),
      )
    }),
    { numRuns: 200 },
  )
})

const configuration: Json = {
  returnImmediately: true,
  historyLength: 1,
  acceptedOutputModes: ['text/plain'],
  taskPushNotificationConfig: push,
}
const current: [method: string, params: () => Json][] = [
  ['SendMessage', () => ({ tenant: '', message, configuration, metadata: { a: 1 } })],
  ['SendStreamingMessage', () => ({ message: replaced(message, ['taskId'], 'nix'), configuration })],
  ['GetTask', () => ({ id: taskId, historyLength: 1 })],
  [
    'ListTasks',
    () => ({
      contextId: 'c',
      status: 'TASK_STATE_WORKING',
      pageSize: 1,
      pageToken: '',
      historyLength: 1,
      statusTimestampAfter: '2026-04-26T10:00:00.000Z',
      includeArtifacts: true,
    }),
  ],
  ['CancelTask', () => ({ id: 'nix', metadata: {} })],
  ['SubscribeToTask', () => ({ id: 'nix' })],
  ['CreateTaskPushNotificationConfig', () => ({ taskId, ...(push as object) })],
  ['GetTaskPushNotificationConfig', () => ({ taskId, id: 'c' })],
  ['ListTaskPushNotificationConfigs', () => ({ taskId, pageSize: 1, pageToken: '' })],
  ['DeleteTaskPushNotificationConfig', () => ({ taskId, id: 'c' })],
  ['GetExtendedAgentCard', () => ({ tenant: '' })],
]
const legacyMessage: Json = {
  kind: 'message',
  messageId: 'm',
  role: 'user',
  parts: [
    { kind: 'text', text: 'x' },
    { kind: 'file', file: { bytes: 'AAAA', name: 'f', mimeType: 'a/b' } },
    { kind: 'data', data: { a: 1 } },
  ],
  contextId: 'c',
  referenceTaskIds: [],
  extensions: [],
  metadata: {},
}
const legacyPush: Json = {
  id: 'c',
  url: 'http://127.0.0.1:9/',
  token: 't',
  authentication: { schemes: ['Bearer'], credentials: 'c' },
}
const legacyConfiguration: Json = {
  blocking: false,
  historyLength: 1,
  acceptedOutputModes: ['a/b'],
  pushNotificationConfig: legacyPush,
}
const legacy: [method: string, params: () => Json][] = [
  ['message/send', () => ({ message: legacyMessage, configuration: legacyConfiguration, metadata: {} })],
  [
    'message/stream',
    () => ({ message: replaced(legacyMessage, ['taskId'], 'nix'), configuration: legacyConfiguration }),
  ],
  ['tasks/get', () => ({ id: taskId, historyLength: 1 })],
  ['tasks/cancel', () => ({ id: 'nix', metadata: {} })],
  ['tasks/resubscribe', () => ({ id: 'nix' })],
  ['tasks/pushNotificationConfig/set', () => ({ taskId, pushNotificationConfig: legacyPush })],
  ['tasks/pushNotificationConfig/get', () => ({ id: taskId, pushNotificationConfigId: 'c' })],
  ['tasks/pushNotificationConfig/list', () => ({ id: taskId })],
  ['tasks/pushNotificationConfig/delete', () => ({ id: taskId, pushNotificationConfigId: 'c' })],
  ['agent/getAuthenticatedExtendedCard', () => ({})],
]
const methods = [
  ...current.map(([method, params]) => ['1.0', method, params] as const),
  ...legacy.map(([method, params]) => ['0.3', method, params] as const),
]

test.each(methods)('JSON-RPC %s %s is never a failure of its own', async (version, method, params) => {
  const envelope: Json = { jsonrpc: '2.0', id: 1, method, params: params() }
  await fc.assert(
    fc.asyncProperty(mutant(envelope), async (sent) => {
      expectNoFailure(await overA2a('POST', '/agents/mallory', sent, version))
    }),
    { numRuns: 40 },
  )
})

const operations: [version: string, method: string, path: () => string, body: Json][] = [
  ['1.0', 'POST', () => '/message:send', { tenant: 'agents/mallory', message, configuration, metadata: { a: 1 } }],
  ['1.0', 'POST', () => '/message:stream', { message: replaced(message, ['taskId'], 'nix'), configuration }],
  ['1.0', 'POST', () => '/tasks/nix:cancel', { metadata: {} }],
  ['1.0', 'POST', () => `/tasks/${taskId}/pushNotificationConfigs`, push],
  [
    '0.3',
    'POST',
    () => '/v1/message:send',
    {
      message: { messageId: 'm', role: 'ROLE_USER', content: [{ text: 'x' }, { file: { fileWithBytes: 'AAAA' } }] },
      configuration: { blocking: false, pushNotification: legacyPush },
    },
  ],
  ['0.3', 'POST', () => '/v1/tasks/nix:cancel', { metadata: {} }],
  [
    '0.3',
    'POST',
    () => `/v1/tasks/${taskId}/pushNotificationConfigs`,
    { configId: 'c', config: { pushNotificationConfig: legacyPush } },
  ],
]

test.each(operations)('HTTP+JSON %s %s %s is never a failure', async (version, method, path, body) => {
  await fc.assert(
    fc.asyncProperty(mutant(body), async (sent) => {
      expectNoFailure(await overA2a(method, `/agents/mallory${path()}`, sent, version))
    }),
    { numRuns: 40 },
  )
})

const a2aQueries = [
  '/tasks',
  '/tasks/:id',
  '/v1/tasks/:id',
  '/extendedAgentCard',
  '/v1/card',
  '/tasks/:id/pushNotificationConfigs',
]
test.each(a2aQueries)('a query of HTTP+JSON %s is never a failure', async (path) => {
  const name = fc.constantFrom(
    'contextId',
    'status',
    'pageSize',
    'pageToken',
    'historyLength',
    'history_length',
    'statusTimestampAfter',
    'includeArtifacts',
    'tenant',
    'constructor',
    '__proto__',
    'A2A-Version',
  )
  await fc.assert(
    fc.asyncProperty(fc.dictionary(name, scalar, { minKeys: 1, maxKeys: 3 }), async (given) => {
      const search = Object.entries(given)
        .map(([key, value]) => `${encoded(key)}=${encoded(value)}`)
        .join('&')
      expectNoFailure(
        await overA2a('GET', `/agents/mallory${path.replace(':id', taskId)}?${search}`, undefined, undefined),
      )
    }),
    { numRuns: 40 },
  )
})

test('everything that was accepted can be read again: page by page, over REST and A2A', async () => {
  const whole = ['/v1/agents', '/v1/catalog', '/v1/wake-subscriptions', '/agents/mallory/.well-known/agent-card.json']
  const paged = [
    '/v1/tasks?pageSize=100&includeArtifacts=true',
    `/v1/tasks/${taskId}/messages?limit=100`,
    `/v1/tasks/${taskId}/artifacts?limit=100`,
    '/v1/messages?limit=100',
    '/v1/inbox?limit=200',
    '/agents/mallory/tasks?pageSize=100&includeArtifacts=true',
  ]
  for (const path of [...whole, `/v1/tasks/${taskId}`, `/agents/mallory/tasks/${taskId}`]) await read(path)
  for (const path of paged) {
    for (let token = '', pages = 0; pages === 0 || token; pages++) {
      const { nextPageToken } = await read(token === '' ? path : `${path}&pageToken=${encodeURIComponent(token)}`)
      token = nextPageToken ?? ''
    }
  }
  for (let since = 0, more = true; more; ) {
    const page = await read(`/v1/events?limit=1000&since=${since}`)
    since = page.nextSince
    more = page.more
  }
})

/** The body of what mallory reads, which is there. */
async function read(path: string) {
  const { status, body } = await gateway.call('GET', path, undefined, {
    key: mallory.key,
    headers: { 'a2a-version': '1.0' },
  })
  expect([path, status]).toEqual([path, 200])
  return body
}

/** One A2A request. Only the beginning of a stream is read: it may last as long as its task. */
async function overA2a(
  method: string,
  path: string,
  sent: Json | undefined,
  version: string | undefined,
): Promise<Pick<Answer, 'status' | 'body'>> {
  const headers = {
    ...json,
    authorization: `Bearer ${mallory.key}`,
    ...(version === undefined ? {} : { 'a2a-version': version }),
  }
  const answer = await request(gateway.url + path, {
    method: method as 'POST',
    headers,
    dispatcher: connections,
    ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
  })
  const { statusCode: status, body } = answer
  if (`${answer.headers['content-type']}`.startsWith('text/event-stream')) {
    body.on('error', () => {}).destroy()
    return { status, body: undefined }
  }
  const text = await body.text()
  return { status, body: text.startsWith('{') ? JSON.parse(text) : text }
}

/** Neither the answer's status nor its JSON-RPC code says that the gateway failed. */
function expectNoFailure({ status, body }: Pick<Answer, 'status' | 'body'>): void {
  // Thousands of answers: the words for a failure are made only for one.
  if (status < 500 && status !== 429 && body?.error?.code !== -32603) return
  expect(status, JSON.stringify(body)).not.toBe(429)
  expect([status < 500, body?.error?.code === -32603], JSON.stringify(body)?.slice(0, 500)).toEqual([true, false])
}

/** Percent-encoded as any client could: halves of surrogate pairs too, though no UTF-8 has them. */
function encoded(text: string): string {
  return [...Buffer.from(text, 'utf8')]
    .map((byte) => `%${byte.toString(16).padStart(2, '0')}`)
    .join('')
    .slice(0, 6_000)
}
