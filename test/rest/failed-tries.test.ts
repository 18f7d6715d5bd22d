import { expect, test } from 'vitest'
import { gatewayLimits } from '../../src/limits.ts'
import type { Logger } from '../../src/logger/logger.ts'
import { bearer, rawClient } from '../grpc/raw-client.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'

const { max } = gatewayLimits.wrongKeys

function noting() {
  const lines: { event: string; fields: object }[] = []
  const note = (fields: object, event: string) => void lines.push({ event, fields })
  const log: Logger = { debug() {}, info() {}, warn: note, error() {} }
  return { lines, log }
}

test('an address that tries many keys must wait, on every front; a valid key from there is accepted', async () => {
  const clock = new FakeClock()
  const { lines, log } = noting()
  await using gateway = await startGateway({ overrides: { clock, log } })
  const donna = await gateway.addAgent('donna')
  using grpc = rawClient(gateway.grpcTarget)
  const tenant = 'agents/donna'
  const rest = (key: string) => gateway.call('GET', '/v1/tasks', undefined, { key })
  /** The answer to a key too many comes a second late. */
  const late = async <Answer>(answer: Promise<Answer>): Promise<Answer> => {
    let isDone = false
    void answer.finally(() => {
      isDone = true
    })
    await until(
      () => {
        if (!isDone) clock.advance(100)
        return isDone
      },
      (done) => done,
    )
    return answer
  }
  const rpc = (key: string) =>
    gateway.call(
      'POST',
      '/agents/donna',
      { jsonrpc: '2.0', id: 1, method: 'ListTasks' },
      { key, headers: { 'A2A-Version': '1.0' } },
    )
  for (let i = 0; i < max - 2; i++) expect((await rest(`guess-${i}`)).status).toBe(401)
  expect((await rpc('guess')).status).toBe(401)
  expect(await grpc.unary('getTask', { tenant, id: 'none' }, bearer('guess'))).toMatchObject({ code: 16 })

  const refused = await late(rest('one-too-many'))
  expect([refused.status, refused.body.code]).toEqual([429, 'rate-limited'])
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  const overRpc = await late(rpc('one-too-many'))
  expect([overRpc.status, overRpc.headers.get('retry-after') !== null]).toEqual([429, true])
  expect(overRpc.body.error.data[0].reason).toBe('RATE_LIMITED')
  expect(await late(grpc.unary('getTask', { tenant, id: 'none' }, bearer('one-too-many')))).toMatchObject({
    code: 8,
    reason: 'RATE_LIMITED',
  })

  expect((await rest(donna.key)).status).toBe(200)
  expect((await rest(gateway.adminKey)).status).toBe(200)
  expect((await rpc(donna.key)).status).toBe(200)
  // A request without a key is not a guess.
  expect((await gateway.call('GET', '/v1/tasks', undefined, { key: null })).status).toBe(401)

  clock.advance(60_000)
  expect((await rest('guess')).status).toBe(401)
  const logged = lines.filter(({ event }) => event.startsWith('auth.')).map(({ event }) => event)
  expect(logged).toEqual(['auth.failed', 'auth.throttled', 'auth.failed'])
  expect(JSON.stringify(lines)).not.toContain('guess')
})
