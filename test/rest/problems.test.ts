import { afterAll, beforeAll, expect, test } from 'vitest'
import { problems } from '../../src/errors.ts'
import { permissionScopes } from '../../src/words/callers.ts'
import { triggers } from '../../src/words/events.ts'
import { priorities, wakePolicies } from '../../src/words/policies.ts'
import { chosenTargets } from '../../src/words/targets.ts'
import { taskStates } from '../../src/words/task-states.ts'
import { type Answer, startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'

let gateway: TestGateway
let donna: TestAgent
let taskId: string
let subscriptionId: string

beforeAll(async () => {
  gateway = await startGateway()
  donna = await gateway.addAgent('donna')
  taskId = (await gateway.send('donna', 'hello')).id
  subscriptionId = (await gateway.subscribe(donna, 'http://127.0.0.1:9/')).id
})
afterAll(() => gateway[Symbol.asyncDispose]())

const path = (text: string) => text.replace(':task', taskId).replace(':sub', subscriptionId)

/** Every problem has the same shape, and its members agree with the answer that carries it. */
function expectProblem(answer: Answer, at: string): void {
  const { body, status, headers } = answer
  expect(headers.get('content-type')).toBe('application/problem+json')
  expect(body).toMatchObject({ type: `urn:rouse:problem:${body.code}`, status, instance: at.split('?')[0] })
  expect(problems[body.code as keyof typeof problems]).toMatchObject({ status, title: body.title })
  expect(body.detail).toMatch(/\S.{10,}/)
  expect(JSON.stringify(body)).not.toMatch(/node_modules|at .*\.ts:\d+|SQLITE|Zod/)
}

test.each<[string, string, unknown, string]>([
  ['POST', '/v1/agents', {}, 'handle'],
  ['POST', '/v1/agents', { handle: 7 }, 'handle'],
  ['POST', '/v1/agents', { handle: 'not a handle' }, 'handle'],
  ['POST', '/v1/agents', { handle: 'x', colour: 'red' }, 'colour'],
  ['POST', '/v1/agents', { handle: 'x', access: 'secret' }, 'access'],
  ['POST', '/v1/agents', { handle: 'x', aliases: 'y' }, 'aliases'],
  ['POST', '/v1/agents', { handle: 'x', aliases: ['y z'] }, 'aliases'],
  ['POST', '/v1/agents', { handle: 'x', skills: [{ id: 's' }] }, 'skills[0].name'],
  ['POST', '/v1/agents', { handle: 'x', skills: [{ id: 's', name: 'S', level: 3 }] }, 'skills[0].level'],
  ['POST', '/v1/agents', { handle: 'x', displayName: 'n'.repeat(101) }, 'displayName'],
  ['PATCH', '/v1/agents/donna', { handle: 'new' }, 'handle'],
  ['PATCH', '/v1/agents/donna', { defaultWakePolicy: 'loud' }, 'defaultWakePolicy'],
  ['POST', '/v1/agents/donna/keys', { label: 3 }, 'label'],
  ['POST', '/v1/permissions', { grantee: 'donna' }, 'scope'],
  ['POST', '/v1/permissions', { grantee: 'donna', scope: 'CAN_FLY' }, 'scope'],
  ['POST', '/v1/permissions', { scope: 'CAN_REPLY_TO' }, 'grantee'],
  ['POST', '/v1/wake-subscriptions', {}, 'trigger'],
  ['POST', '/v1/wake-subscriptions', { trigger: 'ANYTHING' }, 'trigger'],
  ['POST', '/v1/wake-subscriptions', { trigger: 'SENT_TO_ME', filters: { colour: 'red' } }, 'filters.colour'],
  ['POST', '/v1/wake-subscriptions', { trigger: 'SENT_TO_ME', filters: { priority: 'top' } }, 'filters.priority'],
  [
    'POST',
    '/v1/wake-subscriptions',
    { trigger: 'SENT_TO_ME', harnessTargetMetadata: { coalesceWindow: 301 } },
    'harnessTargetMetadata.coalesceWindow',
  ],
  [
    'POST',
    '/v1/wake-subscriptions',
    { trigger: 'SENT_TO_ME', harnessTargetMetadata: { signingKey: 'mine' } },
    'harnessTargetMetadata.signingKey',
  ],
  ['PATCH', '/v1/wake-subscriptions/:sub', { status: 'degraded' }, 'status'],
  ['PATCH', '/v1/wake-subscriptions/:sub', { overlapSeconds: 1e9 }, 'overlapSeconds'],
  ['PATCH', '/v1/wake-subscriptions/:sub', { overlapSeconds: 60 }, 'overlapSeconds'],
  ['PATCH', '/v1/wake-subscriptions/:sub', { rotateSigningKey: false, overlapSeconds: 60 }, 'overlapSeconds'],
  ['POST', '/v1/wake-subscriptions/:sub/resync', {}, 'sinceLogId'],
  ['POST', '/v1/wake-subscriptions/:sub/resync', { sinceLogId: 1.5 }, 'sinceLogId'],
  ['POST', '/v1/tasks/:task/transitions', undefined, 'to'],
  ['POST', '/v1/tasks/:task/transitions', { to: 'done', expectedVersion: 1 }, 'to'],
  ['POST', '/v1/tasks/:task/transitions', { to: 'working', expectedVersion: '1' }, 'expectedVersion'],
  ['POST', '/v1/tasks/:task/transitions', { to: 'working', expectedVersion: 1, message: {} }, 'message.parts'],
  ['POST', '/v1/tasks/:task/transitions', { to: 'working', expectedVersion: 1, reason: 'x' }, 'reason'],
  ['POST', '/v1/tasks/:task/artifacts', {}, 'artifact'],
  ['POST', '/v1/tasks/:task/artifacts', { artifact: { parts: [{}] } }, 'artifact.parts[0]'],
  ['POST', '/v1/tasks/:task/artifacts', { artifact: { parts: [{ text: 'x' }] }, append: 'yes' }, 'append'],
  ['GET', '/v1/tasks?state=done', undefined, 'state'],
  ['GET', '/v1/tasks?role=boss', undefined, 'role'],
  ['GET', '/v1/tasks?pageSize=101', undefined, 'pageSize'],
  ['GET', '/v1/tasks?pageToken=x', undefined, 'pageToken'],
  ['GET', '/v1/tasks?colour=red', undefined, 'colour'],
  ['GET', '/v1/tasks/:task?historyLength=-1', undefined, 'historyLength'],
  ['GET', '/v1/wake-subscriptions/:sub/deliveries?limit=0', undefined, 'limit'],
  ['GET', '/v1/catalog?page=1', undefined, 'page'],
])('%s %s with %j names the field %s', async (method, at, body, field) => {
  const answer = await gateway.call(method, path(at), body)
  expect(answer.body).toMatchObject({ status: 400, code: 'invalid-request', field })
  expect(answer.body.detail).toMatch(new RegExp(`^${field.replace(/[[\].]/g, '\\$&')}: `))
  expectProblem(answer, path(at))
})

test.each<[string, string, unknown, string, readonly string[]]>([
  ['POST', '/v1/agents', { handle: 'x', access: 'x' }, 'access', ['public', 'project', 'private']],
  ['POST', '/v1/agents', { handle: 'x', defaultWakePolicy: 1 }, 'defaultWakePolicy', wakePolicies],
  ['POST', '/v1/permissions', { grantee: 'donna', scope: 'x' }, 'scope', permissionScopes],
  ['POST', '/v1/wake-subscriptions', { trigger: 'x' }, 'trigger', triggers],
  ['POST', '/v1/wake-subscriptions', { trigger: 'SENT_TO_ME', harnessTarget: 'x' }, 'harnessTarget', chosenTargets],
  [
    'POST',
    '/v1/wake-subscriptions',
    { trigger: 'SENT_TO_ME', filters: { priority: null } },
    'filters.priority',
    priorities,
  ],
  [
    'POST',
    '/v1/wake-subscriptions',
    { trigger: 'SENT_TO_ME', harnessTargetMetadata: { coalesceMode: 'x' } },
    'harnessTargetMetadata.coalesceMode',
    ['window', 'leading'],
  ],
  ['PATCH', '/v1/wake-subscriptions/:sub', { status: 'degraded' }, 'status', ['active', 'paused']],
  ['POST', '/v1/tasks/:task/transitions', { to: 'done' }, 'to', taskStates],
  ['GET', '/v1/tasks?state=done', undefined, 'state', taskStates],
  ['GET', '/v1/tasks?role=boss', undefined, 'role', ['assignee', 'originator']],
])('%s %s with %j lists the values of %s', async (method, at, body, field, words) => {
  const answer = await gateway.call(method, path(at), body)
  expect(answer.body).toMatchObject({ status: 400, field, detail: `${field}: is one of ${words.join(', ')}` })
})

test('a missing word is reported as required, with its possible values', async () => {
  const { body } = await gateway.call('POST', '/v1/wake-subscriptions', {})
  expect(body.detail).toBe(`trigger: is required: one of ${triggers.join(', ')}`)
})

test('an overlap without a rotation is refused with the remedy', async () => {
  const { body } = await gateway.call('PATCH', path('/v1/wake-subscriptions/:sub'), { overlapSeconds: 60 })
  expect(body.detail).toContain('is only allowed with rotateSigningKey: true')
})

test('a forbidden URL is reported with its field', async () => {
  const harnessTargetMetadata = { url: 'http://169.254.169.254/' }
  const { body } = await gateway.call('PATCH', path('/v1/wake-subscriptions/:sub'), { harnessTargetMetadata })
  expect(body).toMatchObject({ status: 422, field: 'harnessTargetMetadata.url' })
  expect(body.detail).toMatch(/^harnessTargetMetadata\.url: 169\.254\.169\.254 may not be reached/)
})

test('several wrong fields are reported together', async () => {
  const { body } = await gateway.call('POST', '/v1/agents', { colour: 'red', access: 'x' })
  expect(body.errors.map(({ field }: { field: string }) => field).sort()).toEqual(['access', 'colour', 'handle'])
})

test.each<[string, string, number, string, RequestInit]>([
  ['POST', '/v1/agents', 400, 'invalid-json', { body: '{"handle":', headers: { 'content-type': 'application/json' } }],
  ['POST', '/v1/agents', 400, 'invalid-json', { body: '"text"', headers: { 'content-type': 'application/json' } }],
  ['POST', '/v1/agents', 400, 'invalid-request', { body: '[1]', headers: { 'content-type': 'application/json' } }],
  ['POST', '/v1/agents', 415, 'unsupported-media-type', { body: 'handle=x' }],
  ['POST', '/v1/agents', 415, 'unsupported-media-type', { body: new URLSearchParams('handle=x') }],
  ['POST', '/v1/agents', 415, 'unsupported-media-type', { body: new Uint8Array([1]) }],
  [
    'POST',
    '/v1/agents',
    415,
    'unsupported-media-type',
    { body: '{}', headers: { 'content-type': 'application/json; charset=latin1' } },
  ],
  [
    'POST',
    '/v1/agents',
    413,
    'payload-too-large',
    { body: JSON.stringify({ handle: 'x'.repeat(5_000_000) }), headers: { 'content-type': 'application/json' } },
  ],
  ['GET', '/v1/tasks/%ZZ', 400, 'invalid-request', {}],
  ['GET', '/v1/nothing', 404, 'not-found', {}],
  ['GET', '/nothing', 404, 'not-found', {}],
  ['GET', '/v1/tasks/unknown', 404, 'task-not-found', {}],
  ['GET', '/v1/messages/unknown', 404, 'message-not-found', {}],
  ['GET', '/v1/wake-subscriptions/unknown', 404, 'subscription-not-found', {}],
  ['DELETE', '/v1/permissions/unknown', 404, 'permission-not-found', {}],
  ['GET', '/v1/agents/unknown', 404, 'agent-not-found', {}],
  ['DELETE', '/v1/agents/donna/keys/unknown', 404, 'key-not-found', {}],
  ['PUT', '/v1/agents/donna', 405, 'method-not-allowed', {}],
  ['DELETE', '/v1/tasks', 405, 'method-not-allowed', {}],
  ['POST', '/v1/tasks/some', 405, 'method-not-allowed', {}],
  ['GET', '/v1/tasks/some/transitions', 405, 'method-not-allowed', {}],
  ['GET', '/v1/wake-subscriptions/some/replay', 405, 'method-not-allowed', {}],
  ['POST', '/v1/events', 405, 'method-not-allowed', {}],
  ['GET', '/v1/permissions/some', 405, 'method-not-allowed', {}],
  ['POST', '/healthz', 405, 'method-not-allowed', {}],
])('%s %s is %i %s', async (method, at, status, code, init) => {
  const response = await fetch(gateway.url + at, {
    ...init,
    method,
    headers: { authorization: `Bearer ${gateway.adminKey}`, ...init.headers },
  })
  const answer = { status: response.status, headers: response.headers, body: await response.json() }
  expect(answer.body).toMatchObject({ status, code })
  expectProblem(answer, at)
  if (status === 405) expect(response.headers.get('allow')).toContain('OPTIONS')
})

test('a missing, malformed, unknown or empty key is 401, and the answer says how to send one', async () => {
  for (const authorization of [undefined, 'Bearer', 'Bearer ', 'Bearer rk_unknown', 'Basic eDp5', 'rk_x']) {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization }
    const answer = await gateway.call('POST', '/v1/agents', '{not json', { key: null, headers })
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="rouse"')
    expect(answer.body.detail).not.toContain('rk_unknown')
    expectProblem(answer, '/v1/agents')
  }
})
