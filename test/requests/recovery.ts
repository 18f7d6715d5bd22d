import { keptInput } from '../../src/approvals/approval.ts'
import { settingDefaults } from '../../src/registry/recovery/gate.ts'
import { approvalAsked } from './plants.ts'
import type { Samples } from './sample.ts'

const instant = '2026-01-01T00:00:00.000Z'
const process = { pid: 7, startedAt: instant }
const harness = { cwd: '/home/mallory', sessionId: 'h-1' }
const page = { agent: '@:handle', limit: '5', pageToken: '' }

/** Sessions, what is done about silence, turns, needs, and the log. */
export const recoverySamples = {
  'GET /v1/sessions': { moreQuery: { status: 'ended', limit: '5', pageToken: ':session' } },
  'POST /v1/sessions': {
    body: { surface: 'codex', capabilities: ['turn/start'] },
    more: { ...process, drain: false, harness },
  },
  'PUT /v1/presence': {
    body: { state: 'active', source: 'codex-app-server', activeTurnId: 'turn-7', capabilities: ['turn/steer'] },
    more: { contextTokens: 1, process, harness },
  },
  'GET /v1/sessions/:id': { of: 'session' },
  'PUT /v1/sessions/:id': {
    of: 'spareSession',
    body: { presence: { state: 'idle', source: 'codex-app-server' } },
    more: {
      presence: {
        state: 'active',
        source: 'mcp-client',
        activeTurnId: 't-1',
        capabilities: ['steer'],
        contextTokens: 1,
      },
      harness,
    },
  },
  'DELETE /v1/sessions/:id': { of: 'spareSession', moreQuery: { by: 'person' } },

  'GET /v1/recovery': { moreQuery: page },
  'GET /v1/heartbeat': { moreQuery: page },
  'PUT /v1/recovery/bridge': {
    body: {
      startedAt: '2026-04-26T09:00:00.000Z',
      starts: 2,
      lastAcceptAt: '2026-04-26T09:59:00.000Z',
      lastSweepAt: '2026-04-26T09:59:59.000Z',
      late: [{ step: 'wake', count: 1 }],
      restart: 'proven',
      harness: 'codex',
      seen: false,
    },
    more: { process },
  },
  'POST /v1/recovery/acts': { body: { epoch: 1 } },
  'POST /v1/recovery/acts/:epoch/report': { body: { outcome: 'failed', detail: 'exit code 1' }, more: process },
  'GET /v1/gate': { moreQuery: { agent: '@:handle' } },
  'PATCH /v1/gate': {
    body: { restarts: 'enabled', reason: 'tonight', settings: { restartsPerHour: 2 } },
    more: {
      agent: '@:handle',
      nudges: 'enabled',
      restarts: 'disabled',
      settings: settingDefaults,
      proof: 'p',
      backlog: 'skip',
    },
  },
  'POST /v1/approvals': {
    body: { ...approvalAsked, nonce: ':newNonce' },
    more: { reason: 'r', cwd: '/work', mode: 'default' },
  },
  'GET /v1/approvals': {
    moreQuery: { agent: '@:handle', limit: '5', pageToken: '', state: 'open', conversationId: 'c-1' },
  },
  'GET /v1/approvals/:id': { of: 'approval', moreQuery: { waitSeconds: '1' } },
  'POST /v1/approvals/:id/decision': {
    of: 'spareApproval',
    body: { answer: 'deny', inputHash: keptInput(approvalAsked).inputHash },
    more: { message: 'No.', answers: {} },
  },
  'POST /v1/approvals/:id/close': { of: 'spareApproval', body: { state: 'withdrawn' } },
  'POST /v1/approvals/settle': {
    body: { harness: 'claude', conversationId: 'c-1' },
    more: { tool: 'Bash', input: { command: 'npm test' } },
  },
  'POST /v1/followers': { body: {}, more: { taskId: ':task' } },
  'GET /v1/followers': { moreQuery: { agent: '@:handle', limit: '5', pageToken: '' } },
  'GET /v1/followers/:id': { of: 'follower', moreQuery: { waitSeconds: '1' } },
  'DELETE /v1/followers/:id': { of: 'spareFollower' },

  'GET /v1/turns': { query: { agent: ':handle' }, moreQuery: { limit: '5', pageToken: '' } },
  'POST /v1/turns': { body: { eventId: '01J00000000000000000000000', route: 'codex' }, more: { agent: '@:handle' } },
  'POST /v1/turns/:id/end': {
    of: 'turn',
    body: { outcome: 'completed', cost: { model: 'some-model', inputTokens: 12_000, outputTokens: 300 } },
    more: { agent: '@:handle', detail: 'd', cost: { model: 'm', inputTokens: 1, outputTokens: 1, durationMs: 1 } },
  },
  'GET /v1/parked': { query: { agent: ':handle' } },
  'PUT /v1/parked': { body: { until: ':later', reason: 'usage-limit', detail: 'five hours' } },
  'DELETE /v1/parked': { query: { agent: ':handle' } },

  'GET /v1/needs': { moreQuery: { ...page, kind: 'mail' } },
  'POST /v1/needs/snooze': { body: { need: ':need', until: ':later' } },
  'GET /v1/events': { query: { since: '0' }, moreQuery: { limit: '5' } },
  'GET /v1/audit': {
    moreQuery: {
      since: instant,
      actor: '@:handle',
      operation: 'message.send',
      outcome: 'ok',
      project: '*',
      limit: '5',
      pageToken: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
    },
  },
} satisfies Partial<Samples>
