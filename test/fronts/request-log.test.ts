import { expect, test } from 'vitest'
import { LineLevels } from '../../src/fronts/http/request-log.ts'
import type { Caller } from '../../src/registry/callers/caller.ts'
import { sixWays } from '../a2a/six-ways.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'
import { logLines } from '../support/log-lines.ts'
import { until } from '../support/until.ts'

const answered = 'request.answered'
/** Of the gateways that a test starts: their requests, as one line each. */
const world = async (least?: 'debug' | 'info' | 'warn') => {
  const { log, lines, of } = logLines(least)
  const gateway = await startGateway({ overrides: { log } })
  const line = (operation: string) =>
    until(
      () => of(answered).find((one) => one.operation === operation),
      (found) => found !== undefined,
    ).then((found) => found!)
  return { gateway, lines, of, line, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() }
}

test('what changes something is one line at info: ids, the pattern of the route, the status and the time', async () => {
  await using one = await world('info')
  const donna = await one.gateway.addAgent('donna')
  const { status, headers } = await one.gateway.call(
    'POST',
    '/v1/messages',
    { to: ['@donna'], subject: 'no text of mine', payload: { text: 'nor this' } },
    { key: donna.key },
  )
  const { keyId: _, requestId, ms, ...line } = await one.line('message.send')
  expect(line).toMatchObject({
    level: 'info',
    method: 'POST',
    route: '/v1/messages',
    agent: '@donna',
    project: 'default',
    status,
  })
  expect(ms).toBeGreaterThan(0)
  expect(headers.get('x-request-id')).toBe(requestId)
  expect(JSON.stringify(one.lines)).not.toMatch(/no text of mine|nor this|rk_/)
})

test('a read is a line at debug, and a read that fails one at info with the code of the problem', async () => {
  await using one = await world()
  const donna = await one.gateway.addAgent('donna')
  await one.gateway.call('GET', '/v1/agents/donna', undefined, { key: donna.key })
  expect(await one.line('agent.read')).toMatchObject({ level: 'debug', route: '/v1/agents/:handle', status: 200 })
  await one.gateway.call('GET', '/v1/tasks/unknown', undefined, { key: donna.key })
  expect(await one.line('task.read')).toMatchObject({ level: 'info', status: 404, problem: 'task-not-found' })
  await one.gateway.call('GET', '/readyz', undefined, { key: null })
  await until(
    () => one.of(answered).at(-1),
    (line) => line?.route === '/readyz',
  )
  expect(one.of(answered).at(-1)).toMatchObject({ level: 'debug', status: 200 })
})

test('refusals of one agent beyond a rate are lines at debug, and faults of the gateway are not', () => {
  const clock = new FakeClock()
  const levels = new LineLevels(clock)
  const caller = { id: 'mallory' } as Caller
  const refused = { isRead: true, problem: 'rate-limited', isFault: false, caller }
  const max = 300
  for (let n = 0; n < max; n++) expect(levels.of(refused)).toBe('info')
  expect(levels.of(refused)).toBe('debug')
  expect(levels.of({ ...refused, isFault: true })).toBe('info')
  expect(levels.of({ ...refused, caller: { id: 'donna' } as Caller })).toBe('info')
  expect(levels.of({ ...refused, isRead: false, problem: undefined })).toBe('info')
  clock.advance(60_000)
  expect(levels.of(refused)).toBe('info')
})

test('strangers write nothing at info: a wrong key, an unknown path, no key', async () => {
  await using one = await world()
  await one.gateway.call('POST', '/v1/agents', { handle: 'x' }, { key: 'rk_wrong' })
  await one.gateway.call('GET', '/v1/s3cret-in-the-path', undefined, { key: null })
  await one.gateway.call('GET', '/s3cret-in-the-path', undefined, { key: null })
  const lines = await until(
    () => one.of(answered),
    (found) => found.length === 3,
  )
  expect(lines.map(({ level, status }) => [level, status])).toEqual([
    ['debug', 401],
    ['debug', 401],
    ['debug', 404],
  ])
  expect(JSON.stringify(one.lines)).not.toContain('s3cret')
})

test('a send is one line on every binding, in both versions, and so is a send that is refused', async () => {
  await using one = await world('info')
  const donna = await one.gateway.addAgent('donna')
  const lucy = await one.gateway.addAgent('lucy')
  using ways = sixWays(one.gateway, donna, lucy)
  for (const [way, send] of Object.entries(ways)) {
    for (const [message, isFine] of [
      [{}, true],
      [{ taskId: 'unknown' }, false],
    ] as const) {
      const before = one.of(answered).length
      await send(message)
      const lines = await until(
        () => one.of(answered).slice(before),
        (found) => found.length > 0,
      )
      expect(lines, way).toHaveLength(1)
      expect(lines[0], way).toMatchObject({ level: 'info', operation: 'SendMessage', agent: '@lucy', to: '@donna' })
      expect(lines[0]!.problem === undefined, way).toBe(isFine)
      expect(lines[0]!.route, way).toMatch(way.startsWith('gRPC') ? /A2AService\/SendMessage$/ : /^\/agents\/:handle/)
    }
  }
})

test('the id that a proxy gave a request is kept; one that could be a line of its own is not', async () => {
  await using one = await world()
  const ask = async (id: string) => {
    const { headers } = await one.gateway.call('GET', '/healthz', undefined, { headers: { 'X-Request-Id': id } })
    return headers.get('x-request-id')
  }
  expect(await ask('01J-proxy:7.a')).toBe('01J-proxy:7.a')
  expect(await ask('a b')).toMatch(/^[0-9a-f]{10}-\w+$/)
  expect(await ask('x'.repeat(65))).toMatch(/^[0-9a-f]{10}-\w+$/)
})

test('a level that hides requests leaves them their ids', async () => {
  await using one = await world('warn')
  const { headers } = await one.gateway.call('GET', '/v1/agents')
  expect(headers.get('x-request-id')).toMatch(/-/)
  expect(one.of(answered)).toEqual([])
})
