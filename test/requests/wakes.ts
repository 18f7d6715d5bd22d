import type { BodyOf, Samples } from './sample.ts'

type Subscription = NonNullable<BodyOf<'POST /v1/wake-subscriptions'>>

/** All filters of a wake subscription. */
export const filters: Subscription['filters'] = {
  taggedConcepts: ['a'],
  priority: 'high',
  senderFilter: ['@mallory'],
  inReplyToFilter: ['x'],
}
/** All settings of a webhook. */
export const webhook: Subscription['harnessTargetMetadata'] = {
  url: 'http://127.0.0.1:9/hook',
  coalesceWindow: 0,
  coalesceMode: 'window',
  maxInFlight: 2,
  includeOwn: true,
  retryForSeconds: 60,
  probe: true,
}
const choice = { name: 'mail.received', arguments: { from: ['@lola'] } }
const url = ':callback'
const maxAgeMs = 5
const instant = '2026-01-01T00:00:00.000Z'

/** Wake subscriptions, the stream of wakes, and the events of MCP. */
export const wakeSamples = {
  'GET /v1/wake-subscriptions': { moreQuery: { agent: '@:handle', limit: '5', pageToken: ':position' } },
  'POST /v1/wake-subscriptions': {
    body: {
      trigger: 'SENT_TO_ME',
      filters: { senderFilter: ['@lola'] },
      harnessTarget: 'a2a-webhook',
      harnessTargetMetadata: { url: 'https://harness.example/wake', coalesceWindow: 0 },
    },
    more: { filters, harnessTargetMetadata: webhook, agentIdentity: '@:handle' },
  },
  'GET /v1/wake-subscriptions/:id': { of: 'subscription' },
  'PATCH /v1/wake-subscriptions/:id': {
    of: 'subscription',
    body: { rotateSigningKey: true, overlapSeconds: 3600 },
    more: {
      trigger: 'SENT_TO_ME',
      filters,
      harnessTarget: 'a2a-webhook',
      harnessTargetMetadata: webhook,
      status: 'active',
    },
  },
  'DELETE /v1/wake-subscriptions/:id': { of: 'spareReader' },
  'POST /v1/wake-subscriptions/:id/resync': { of: 'subscription', body: { sinceLogId: 0 } },
  'POST /v1/wake-subscriptions/:id/replay': { of: 'subscription', body: { fromLogId: 1, toLogId: 4 } },
  'POST /v1/wake-subscriptions/:id/test': { of: 'subscription' },
  'GET /v1/wake-subscriptions/:id/deliveries': { of: 'subscription', moreQuery: { limit: '5', pageToken: '' } },
  'GET /v1/wake-subscriptions/:id/held': { of: 'subscription', moreQuery: { limit: '5', pageToken: '1' } },
  'GET /v1/deliveries': {
    moreQuery: {
      agent: '@:handle',
      subscription: ':reader',
      outcome: 'failed',
      endedAfter: instant,
      endedBefore: instant,
      limit: '5',
      pageToken: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
    },
  },

  'GET /v1/figures': { query: { minutes: '5' } },

  'GET /v1/wake-stream': {
    query: { subscription: ':reader', capabilities: 'append-only' },
    headers: { accept: 'text/event-stream' },
  },
  'POST /v1/wake-stream/receipts': {
    body: [{ eventId: ':wake', step: 'held', source: 'codex', detail: 'turn_active' }],
    more: [
      { eventId: ':wake', step: 'written', at: instant, detail: 'd', source: 's', isFinal: false },
      { eventId: ':wake', step: 'acked' },
    ],
  },

  'GET /v1/event-types': {},
  'POST /v1/event-types/poll': {
    body: choice,
    more: {
      arguments: { from: ['lola'], priority: 'high', taggedConcepts: ['c'], inReplyTo: ['m'], includeOwn: false },
      cursor: null,
      maxAgeMs,
      maxEvents: 5,
      timeoutMs: 0,
    },
  },
  'POST /v1/event-subscriptions': {
    body: { ...choice, url, secret: 'whsec_AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=', cursor: null },
    more: { arguments: {}, maxAgeMs, ttlMs: 60_000 },
  },
  'POST /v1/event-subscriptions/end': { body: { ...choice, url } },
} satisfies Partial<Samples>
