import { restTable } from '../../../src/fronts/rest/table.ts'
import type { JsonObject } from '../../../src/lib/json.ts'
import { type AnySample, pathOf, type RestRoute, withAllFields } from '../../requests/sample.ts'
import { routes, samples } from '../../requests/samples.ts'
import { artifact } from '../../requests/work.ts'
import { type Operation, operation } from './operation.ts'

/** Within the longest life of a key. */
const expiresAt = '2030-01-01T00:00:00.000Z'
/** All settings of a stream. */
const reader = { coalesceWindow: 0, daemonSocketPath: '/s', reader: 'rouse bridge' }
/** What they name is not there, or nobody answers there. */
const refusedRoutes: readonly RestRoute[] = [
  'POST /v1/event-subscriptions',
  'POST /v1/needs/snooze',
  // Only a person may.
  'POST /v1/approvals/:id/decision',
  'POST /v1/turns/:id/end',
  'POST /v1/recovery/acts',
  'POST /v1/recovery/acts/:epoch/report',
]

/** The sample of a route with all its fields, or with what another form of it has. */
function sampled(route: RestRoute, form?: AnySample & Partial<Operation>): Operation {
  const { of: _, ...fields } = { ...withAllFields(samples[route]), ...form }
  const { operation: row } = restTable.routes.find((one) => one.route === route)!
  const isForOperators = row.agent === 'never' || route === 'POST /v1/tokens/revoke'
  return {
    name: row.name,
    method: route.split(' ')[0]!,
    path: pathOf(route, { ...samples[route], ...form }),
    ...(isForOperators ? { as: 'operator' } : {}),
    ...(refusedRoutes.includes(route) ? { isRefused: true } : {}),
    ...fields,
  }
}

/** Further forms of requests: with fields that exclude those of the samples. */
const forms: readonly Operation[] = [
  sampled('POST /v1/agents/:handle/keys', { body: { expiresAt } }),
  sampled('POST /v1/operator-keys', { body: { role: 'viewer', projects: [':project'], expiresAt } }),
  sampled('POST /v1/approvals/:id/close', { body: { outcome: 'taken' }, isRefused: true }),
  sampled('POST /v1/tokens/revoke', { body: { token: 'a.b.c' }, isRefused: true }),
  sampled('POST /v1/wake-subscriptions', {
    body: {
      trigger: 'TASK_STATE_CHANGED',
      harnessTarget: 'bridge-daemon',
      harnessTargetMetadata: reader,
      sessionId: ':spareSession',
      startFrom: 'now',
    },
  }),
  sampled('GET /v1/wake-subscriptions', { query: { subscriptionId: ':subscription' } }),
  sampled('PATCH /v1/wake-subscriptions/:id', { of: 'spareReader', body: { harnessTargetMetadata: reader } }),
  sampled('POST /v1/wake-subscriptions/:id/replay', { of: 'reader', body: { eventId: ':wake' } }),
  sampled('POST /v1/wake-subscriptions/:id/replay', { body: { failedSince: '2026-01-01T00:00:00.000Z' } }),
  sampled('POST /v1/tasks/:id/transitions', { body: { to: 'completed', expectedVersion: 1, message: 'm' } }),
  sampled('POST /v1/tasks/:id/artifacts', { of: 'task', body: { artifact, append: true }, isRefused: true }),
  sampled('POST /v1/messages', { body: { subject: 's', body: 'b', inReplyTo: ':message' } }),
  sampled('GET /v1/inbox', { query: { waitSeconds: '1' }, mayWait: true }),
  sampled('GET /v1/events', { query: { task: ':task', limit: '5' } }),
  sampled('GET /v1/events', { headers: { Accept: 'text/event-stream' } }),
]

const refused = (one: Operation): Operation => ({ ...one, isRefused: true })
const get = (name: string, path: string, query?: JsonObject): Operation =>
  operation(name, 'GET', path, query === undefined ? {} : { query })

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
  refused(operation('sign in', 'POST', '/page/sign-in')),
  get('view of the page', '/page/views/needs.js'),
  get('health', '/healthz'),
  get('readiness', '/readyz'),
]

/** The request of every route, and further forms of some. */
export const restOperations: readonly Operation[] = [...routes.map((route) => sampled(route)), ...forms, ...open]
