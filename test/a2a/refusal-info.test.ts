import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sizeLimits } from '../../src/limits.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { errorInfo } from './wire.ts'

let gateway: TestGateway
let donna: TestAgent

beforeAll(async () => {
  gateway = await startGateway()
  donna = await gateway.addAgent('donna')
})
afterAll(() => gateway[Symbol.asyncDispose]())

const { depth: jsonDepth, values: jsonValues, body: a2aBody, body: restBody } = sizeLimits

const refusals: [string, string | Buffer, Record<string, string>, number, string, Record<string, string>][] = [
  [
    'too deep',
    '['.repeat(jsonDepth.max + 1) + ']'.repeat(jsonDepth.max + 1),
    {},
    400,
    'INVALID_REQUEST',
    { code: 'invalid-request', limit: 'depth', limitName: 'depth', max: String(jsonDepth.max) },
  ],
  [
    'of too many values',
    JSON.stringify(Array(jsonValues.max).fill(0)),
    {},
    413,
    'PAYLOAD_TOO_LARGE',
    { code: 'payload-too-large', limit: 'values', limitName: 'values', max: String(jsonValues.max) },
  ],
  [
    'too large',
    JSON.stringify('x'.repeat(a2aBody.max)),
    {},
    413,
    'PAYLOAD_TOO_LARGE',
    { code: 'payload-too-large', limit: 'body', limitName: 'body', max: String(a2aBody.max) },
  ],
  [
    'compressed',
    gzipSync('{}'),
    { 'content-encoding': 'gzip' },
    415,
    'UNSUPPORTED_MEDIA_TYPE',
    { code: 'unsupported-media-type', field: 'Content-Encoding' },
  ],
]

test.each(refusals)(
  'a body that is %s is refused with the same fields on JSON-RPC and HTTP+JSON',
  async (_what, body, headers, status, reason, metadata) => {
    const post = async (path: string) => {
      const init = {
        method: 'POST',
        headers: {
          authorization: `Bearer ${donna.key}`,
          'content-type': 'application/json',
          'a2a-version': '1.0',
          ...headers,
        },
        body: body as string,
      }
      const answer = await fetch(gateway.url + path, init)
      return { status: answer.status, error: ((await answer.json()) as { error: Record<string, unknown> }).error }
    }
    const rpc = await post('/agents/donna')
    expect([rpc.status, rpc.error.data]).toEqual([200, [{ ...errorInfo, reason, metadata }]])
    const rest = await post('/agents/donna/message:send')
    expect([rest.status, rest.error.details]).toEqual([status, [{ ...errorInfo, reason, metadata }]])
  },
)

test('the number of what an agent may have is named in the way of a rate', async () => {
  await gateway.call('PATCH', '/v1/projects/default', { limits: { owned: 1 } })
  const task = await gateway.send('donna', 'hello', { key: donna.key })
  const create = (id: string) =>
    gateway.call(
      'POST',
      '/agents/donna',
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'CreateTaskPushNotificationConfig',
        params: { taskId: task.id, id, url: 'https://harness.example/push' },
      },
      { key: donna.key, headers: { 'a2a-version': '1.0' } },
    )
  await create('c1')
  const { body } = await create('c2')
  expect(body.error.data[0].metadata).toMatchObject({
    code: 'limit-exceeded',
    limitName: 'owned',
    max: '1',
  })
})

// D44
test('a REST body that is too large is refused with the name of the limit and the remedy', async () => {
  const { status, body } = await gateway.call('POST', '/v1/messages', JSON.stringify('x'.repeat(restBody.max)), {
    key: donna.key,
    headers: { 'content-type': 'application/json' },
  })
  expect([status, body.limit, body.max]).toEqual([413, 'body', restBody.max])
  expect(body.detail).toContain('Send less, or send a URL.')
})
