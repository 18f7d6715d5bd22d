import type { JsonObject } from '../../../src/lib/json.ts'
import { projectLimits } from '../../../src/limits.ts'
import { settingDefaults } from '../../../src/registry/recovery/gate.ts'
import { type Operation, operation } from './operation.ts'

const get = (name: string, path: string, query?: JsonObject): Operation =>
  operation(name, 'GET', path, query === undefined ? {} : { query })
const post = (name: string, path: string, body?: unknown): Operation =>
  operation(name, 'POST', path, body === undefined ? {} : { body })
const put = (name: string, path: string, body: unknown): Operation => operation(name, 'PUT', path, { body })
const patch = (name: string, path: string, body: unknown): Operation => operation(name, 'PATCH', path, { body })
const remove = (name: string, path: string, query?: JsonObject): Operation =>
  operation(name, 'DELETE', path, query === undefined ? {} : { query })
const asOperator = (one: Operation): Operation => ({ ...one, as: 'operator' })
const refused = (one: Operation): Operation => ({ ...one, isRefused: true })

/** A rate that is used up would answer in the place of what is tried. */
export const noLimits = Object.fromEntries(Object.keys(projectLimits).map((name) => [name, 0]))
const instant = '2026-01-01T00:00:00.000Z'
/** Within the longest life of a key. */
const later = '2030-01-01T00:00:00.000Z'
const page = { limit: '5', pageToken: '' }
/** The page after what was made at 1 and is named x. */
const position = Buffer.from('1/x').toString('base64url')
const numberedPage = { limit: '5', pageToken: '1' }
const messagePage = { limit: '5', pageToken: ':message' }

const parts = [
  { text: 'done', metadata: { a: 1 } },
  { raw: 'AAAA', filename: 'f', mediaType: 'text/plain' },
  { url: 'http://127.0.0.1:9/' },
  { data: { a: [1] } },
]
const message = {
  messageId: 'm-2',
  role: 'ROLE_AGENT',
  parts,
  metadata: { a: 1 },
  extensions: ['urn:x'],
  referenceTaskIds: [':task'],
}
const artifact = {
  artifactId: 'a-1',
  name: 'result',
  description: 'd',
  parts,
  metadata: { k: 'v' },
  extensions: ['urn:x'],
}
/** All filters of a wake subscription. */
export const filters = { taggedConcepts: ['a'], priority: 'high', senderFilter: ['@mallory'], inReplyToFilter: ['x'] }
/** All settings of a webhook. */
export const webhook = {
  url: 'http://127.0.0.1:9/hook',
  coalesceWindow: 0,
  coalesceMode: 'window',
  maxInFlight: 2,
  includeOwn: true,
  retryForSeconds: 60,
  probe: true,
}
const stream = { coalesceWindow: 0, daemonSocketPath: '/s', reader: 'rouse bridge' }
const skill = {
  id: 's',
  name: 'S',
  description: 'd',
  tags: ['t'],
  examples: ['e'],
  inputModes: ['text/plain'],
  outputModes: ['text/plain'],
}
const profile = {
  displayName: 'Mallory',
  description: 'd',
  aliases: ['alias-one'],
  skills: [skill],
  inputModes: ['text/plain', '*/*'],
  outputModes: ['text/plain'],
  access: 'private',
  contactPolicy: 'everybody',
  defaultWakePolicy: 'immediate',
}
const harness = { cwd: '/home/mallory', sessionId: 'h-1' }
const presence = {
  state: 'active',
  source: 'mcp-client',
  activeTurnId: 't-1',
  capabilities: ['steer'],
  contextTokens: 1,
}
const owner = { pid: 7, startedAt: instant }

const agents: readonly Operation[] = [
  get('agents', '/v1/agents', { limit: '5', pageToken: '@a' }),
  asOperator(post('register', '/v1/agents', { handle: 'new-one', project: 'junk', ...profile })),
  get('agent', '/v1/agents/mallory'),
  patch('change agent', '/v1/agents/mallory', { ...profile, aliases: [], access: 'public' }),
  asOperator(remove('remove agent', '/v1/agents/:spareAgent', { freeNames: 'true' })),
  get('keys', '/v1/agents/mallory/keys', { limit: '5', pageToken: position }),
  post('make key', '/v1/agents/mallory/keys', { label: 'l', scopes: ['read'], expiresInSeconds: 60 }),
  post('make key until', '/v1/agents/mallory/keys', { expiresAt: later }),
  remove('revoke key', '/v1/agents/mallory/keys/:spareKey', { minted: 'true', keep: 'false' }),
  get('whoami', '/v1/whoami'),
  post('sign-in code', '/v1/sign-in-codes'),
  refused(asOperator(post('snooze', '/v1/needs/snooze', { need: ':subscription', until: null }))),
  get('catalog', '/v1/catalog', { skill: 's', tag: 't', q: 'q', limit: '5', pageToken: '' }),
]

const wakes: readonly Operation[] = [
  post('subscribe', '/v1/wake-subscriptions', {
    trigger: 'SENT_TO_ME',
    filters,
    harnessTarget: 'a2a-webhook',
    harnessTargetMetadata: webhook,
    agentIdentity: '@mallory',
  }),
  post('subscribe a reader', '/v1/wake-subscriptions', {
    trigger: 'TASK_STATE_CHANGED',
    harnessTarget: 'bridge-daemon',
    harnessTargetMetadata: stream,
    sessionId: ':spareSession',
    startFrom: 'now',
  }),
  get('subscriptions', '/v1/wake-subscriptions', { agent: '@mallory', limit: '5', pageToken: position }),
  get('one of the subscriptions', '/v1/wake-subscriptions', { subscriptionId: ':subscription' }),
  get('subscription', '/v1/wake-subscriptions/:subscription'),
  patch('update', '/v1/wake-subscriptions/:subscription', {
    trigger: 'SENT_TO_ME',
    filters,
    harnessTarget: 'a2a-webhook',
    harnessTargetMetadata: webhook,
    status: 'active',
    rotateSigningKey: true,
    overlapSeconds: 60,
  }),
  patch('update a reader', '/v1/wake-subscriptions/:spareReader', { harnessTargetMetadata: stream }),
  remove('unsubscribe', '/v1/wake-subscriptions/:spareReader'),
  post('resync', '/v1/wake-subscriptions/:subscription/resync', { sinceLogId: 0 }),
  post('replay', '/v1/wake-subscriptions/:subscription/replay', { fromLogId: 1, toLogId: 5 }),
  post('replay one', '/v1/wake-subscriptions/:reader/replay', { eventId: ':event' }),
  post('replay failed', '/v1/wake-subscriptions/:subscription/replay', { failedSince: instant }),
  post('test', '/v1/wake-subscriptions/:subscription/test'),
  get('deliveries', '/v1/wake-subscriptions/:subscription/deliveries', page),
  get('held', '/v1/wake-subscriptions/:subscription/held', numberedPage),
  get('event types', '/v1/event-types'),
  post('poll events', '/v1/event-types/poll', {
    name: 'mail.received',
    arguments: { from: ['lola'], priority: 'high', taggedConcepts: ['c'], inReplyTo: ['m'], includeOwn: false },
    cursor: null,
    maxAgeMs: 5,
    maxEvents: 5,
    timeoutMs: 0,
  }),
  post('subscribe to events', '/v1/event-subscriptions', {
    name: 'task.state_changed',
    arguments: { taskId: 't', states: ['working'], role: 'assignee' },
    url: 'https://127.0.0.1:9/',
    secret: 'whsec_AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=',
    cursor: null,
    maxAgeMs: 5,
    ttlMs: 60_000,
  }),
  post('unsubscribe from events', '/v1/event-subscriptions/end', {
    name: 'task.assigned',
    arguments: {},
    url: 'https://127.0.0.1:9/',
  }),
  get('wake stream', '/v1/wake-stream', { subscription: ':reader', capabilities: 'spawn' }),
  post('receipts', '/v1/wake-stream/receipts', [
    { eventId: ':event', step: 'written', at: instant, detail: 'd', source: 's', isFinal: false },
    { eventId: ':event', step: 'acked' },
  ]),
]

const tasks: readonly Operation[] = [
  get('tasks', '/v1/tasks', {
    agent: '@mallory',
    role: 'assignee',
    state: 'submitted',
    contextId: 'c',
    pageSize: '5',
    pageToken: '',
    historyLength: '2',
    includeArtifacts: 'true',
    order: 'oldest',
  }),
  get('task', '/v1/tasks/:task', { historyLength: '5' }),
  get('task messages', '/v1/tasks/:task/messages', numberedPage),
  get('task artifacts', '/v1/tasks/:task/artifacts', numberedPage),
  post('move', '/v1/tasks/:spareTask/transitions', {
    to: 'working',
    expectedVersion: 1,
    message,
    artifacts: [artifact],
    answerAs: 'task',
    wakePolicy: 'silent',
  }),
  post('answer', '/v1/tasks/:spareTask/transitions', { to: 'completed', expectedVersion: 1, message: 'm' }),
  post('artifact', '/v1/tasks/:spareTask/artifacts', { artifact, append: false, lastChunk: false, expectedVersion: 1 }),
  refused(post('more of an artifact', '/v1/tasks/:task/artifacts', { artifact, append: true })),
]

const mail: readonly Operation[] = [
  post('mail', '/v1/messages', {
    to: '@mallory',
    subject: 's',
    body: 'b',
    signalType: 'x-note',
    payload: { a: { b: [1] } },
    type: 'msg',
    ref: 'r',
    priority: 'high',
    wakePolicy: 'immediate',
    taggedConcepts: ['a'],
  }),
  post('reply', '/v1/messages', { subject: 's', body: 'b', inReplyTo: ':message' }),
  get('sent', '/v1/messages', messagePage),
  get('message', '/v1/messages/:message'),
  post('mark', '/v1/messages/:message/status', { status: 'acked' }),
  get('inbox', '/v1/inbox', {
    unread: 'true',
    thread: 't',
    signalType: 's',
    type: 'msg',
    taggedConcept: 'a',
    since: '2026-01-01T00:00:00Z',
    order: 'oldest',
    agent: 'mallory',
    limit: '5',
    pageToken: ':message',
  }),
  { ...get('wait for mail', '/v1/inbox', { waitSeconds: '1' }), mayWait: true },
  post('returns', '/v1/inbox/returns', { sessionId: ':spareSession', messageIds: [':message'] }),
  get('thread', '/v1/threads/:message', messagePage),
]

const sessions: readonly Operation[] = [
  post('start session', '/v1/sessions', {
    surface: 'codex',
    capabilities: ['steer'],
    ...owner,
    drain: false,
    harness,
  }),
  put('presence', '/v1/presence', { ...presence, process: owner, harness }),
  get('sessions', '/v1/sessions', { status: 'ended', limit: '5', pageToken: ':session' }),
  get('session', '/v1/sessions/:session'),
  put('beat', '/v1/sessions/:spareSession', { presence, harness }),
  remove('end session', '/v1/sessions/:spareSession', { by: 'person' }),
]

const account = {
  startedAt: instant,
  starts: 1,
  lastAcceptAt: instant,
  lastSweepAt: instant,
  late: [{ step: 'wake', count: 1 }],
  restart: 'proven',
  harness: 'codex',
  process: owner,
  seen: true,
}
const gate = {
  agent: '@mallory',
  nudges: 'enabled',
  restarts: 'disabled',
  reason: 'r',
  settings: settingDefaults,
  proof: 'p',
  backlog: 'skip',
}

const recovery: readonly Operation[] = [
  get('recovery', '/v1/recovery', { agent: '@mallory', limit: '5', pageToken: '' }),
  get('heartbeat', '/v1/heartbeat', { agent: '@mallory', limit: '5', pageToken: '' }),
  get('gate', '/v1/gate', { agent: '@mallory' }),
  asOperator(patch('change gate', '/v1/gate', gate)),
  get('turns', '/v1/turns', { agent: '@mallory', limit: '5', pageToken: '' }),
  post('begin turn', '/v1/turns', {
    agent: '@mallory',
    eventId: '01J00000000000000000000000',
    route: 'exec',
  }),
  refused(
    post('end turn', '/v1/turns/01J00000000000000000000000/end', {
      agent: '@mallory',
      outcome: 'completed',
      detail: 'd',
      cost: { model: 'm', inputTokens: 1, outputTokens: 1, durationMs: 1 },
    }),
  ),
  get('parked', '/v1/parked', { agent: '@mallory' }),
  put('park', '/v1/parked', { until: null, reason: 'usage-limit', detail: 'd' }),
  remove('unpark', '/v1/parked', { agent: '@mallory' }),
  put('account', '/v1/recovery/bridge', account),
  refused(post('begin act', '/v1/recovery/acts', { epoch: 1 })),
  refused(
    post('report act', '/v1/recovery/acts/1/report', { outcome: 'failed', pid: 1, startedAt: instant, detail: 'd' }),
  ),
]

const rights: readonly Operation[] = [
  post('grant', '/v1/permissions', { grantor: '@mallory', grantee: '@donna', scope: 'CAN_REPLY_TO' }),
  get('permissions', '/v1/permissions', {
    scope: 'CAN_REPLY_TO',
    grantor: '@mallory',
    grantee: '@donna',
    limit: '5',
    pageToken: '',
  }),
  remove('revoke', '/v1/permissions/:sparePermission'),
  post('claim', '/v1/claims', { ref: 'issue-1' }),
  get('claims', '/v1/claims', { ref: 'issue-1', owner: '@mallory', limit: '5', pageToken: 'a' }),
  post('hand off', '/v1/claims/handoff', { ref: ':spareClaim', to: '@lucy', message: 'm' }),
  remove('release', '/v1/claims', { ref: ':spareClaim' }),
]

const administration: readonly Operation[] = [
  get('projects', '/v1/projects'),
  post('make project', '/v1/projects', { project: 'p' }),
  get('project', '/v1/projects/junk'),
  patch('limits', '/v1/projects/junk', { limits: { ...noLimits, subscriptions: null } }),
  get('operator keys', '/v1/operator-keys'),
  post('make operator key', '/v1/operator-keys', {
    label: 'l',
    role: 'viewer',
    projects: ['junk'],
    expiresInSeconds: 60,
  }),
  post('make operator key until', '/v1/operator-keys', { role: 'viewer', projects: ['junk'], expiresAt: later }),
  remove('revoke operator key', '/v1/operator-keys/:spareOperatorKey', { minted: 'true' }),
  refused(post('revoke token', '/v1/tokens/revoke', { token: 'a.b.c' })),
  post('revoke token by id', '/v1/tokens/revoke', { keyId: `jwt:${'0'.repeat(32)}`, minted: true }),
  get('audit', '/v1/audit', {
    since: instant,
    actor: '@mallory',
    operation: 'message.send',
    outcome: 'ok',
    project: '*',
    limit: '5',
    pageToken: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  }),
].map(asOperator)

const log: readonly Operation[] = [
  get('events', '/v1/events', { since: '0', limit: '5' }),
  get('events of a task', '/v1/events', { task: ':task', limit: '5' }),
  get('needs', '/v1/needs', { agent: '@mallory', kind: 'mail', limit: '5', pageToken: '' }),
  get('deliveries', '/v1/deliveries', {
    agent: '@mallory',
    subscription: ':reader',
    outcome: 'failed',
    endedAfter: instant,
    endedBefore: instant,
    limit: '5',
    pageToken: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  }),
  { ...get('event stream', '/v1/events', { since: '0' }), headers: { Accept: 'text/event-stream' } },
]

const open: readonly Operation[] = [
  get('card', '/agents/donna/.well-known/agent-card.json'),
  get('card of v0.3', '/agents/mallory/.well-known/agent.json'),
  get('card in a project', '/projects/default/agents/donna/.well-known/agent-card.json'),
  refused(get('private card', '/projects/other/agents/zoe/.well-known/agent-card.json')),
  get('card of v0.3 in a project', '/projects/default/agents/mallory/.well-known/agent.json'),
  refused(get('card of nobody', '/agents/.well-known/agent-card.json')),
  get('jwks', '/.well-known/jwks.json'),
  get('AI Catalog', '/.well-known/ai-catalog.json', { after: '@donna' }),
  get('card of the MCP server', '/mcp/server-card'),
  refused(get('DID document', '/.well-known/did.json')),
  refused(get('protected resource', '/.well-known/oauth-protected-resource')),
  refused(get('protected MCP server', '/.well-known/oauth-protected-resource/mcp')),
  get('openapi', '/openapi.json'),
  get('instance', '/.well-known/rouse-instance', { challenge: 'A'.repeat(22) }),
  get('page', '/'),
  get('script of the page', '/page/main.js'),
  // The key of the caller is no code.
  refused(post('sign in', '/page/sign-in')),
  get('view of the page', '/page/views/needs.js'),
  get('health', '/healthz'),
  get('readiness', '/readyz'),
]

export const restOperations: readonly Operation[] = [
  ...agents,
  ...wakes,
  ...tasks,
  ...mail,
  ...sessions,
  ...recovery,
  ...rights,
  ...administration,
  ...log,
  ...open,
]
