import type { Client } from '@a2a-js/sdk/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openEventStream } from '../support/event-stream.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { collect, connect, dialects, saying, sendForTask, tell } from './connect.ts'
import { openEvents } from './event-source.ts'

let gateway: TestGateway
let donna: TestAgent
let spies = 0

beforeAll(async () => {
  gateway = await startGateway()
  donna = await gateway.addAgent('donna')
})

afterAll(() => gateway[Symbol.asyncDispose]())

/** An agent of its own for each test, as its key or itself is taken away. */
async function addSpy() {
  spies += 1
  const handle = `spy${spies}`
  const { body } = await gateway.call('POST', '/v1/agents', { handle })
  return { handle: `@${handle}`, key: body.apiKey as string, keyId: body.keyId as string | undefined }
}

type Spy = Awaited<ReturnType<typeof addSpy>>

async function revokeKeys(spy: Spy) {
  const { body } = await gateway.call('GET', `/v1/agents/${spy.handle}/keys`)
  for (const { keyId } of body.keys) {
    expect((await gateway.call('DELETE', `/v1/agents/${spy.handle}/keys/${keyId}`)).status).toBeLessThan(300)
  }
}

async function removeAgent(spy: Spy) {
  expect((await gateway.call('DELETE', `/v1/agents/${spy.handle}`)).status).toBeLessThan(300)
}

const ways = [
  { way: 'its key is revoked', takeAway: revokeKeys },
  { way: 'the agent is removed', takeAway: removeAgent },
]

/** The events of a stream before it ended, and its error. */
async function untilBroken(stream: ReturnType<Client['resubscribeTask']>) {
  const received: string[] = []
  try {
    for await (const event of stream) received.push(tell(event))
  } catch (error) {
    return { received, error: String((error as Error).message) }
  }
  return { received, error: undefined }
}

describe.each(ways)('when $way', ({ takeAway }) => {
  test.each(dialects)('a stream ends and sends nothing more, A2A $version over $binding', async (dialect) => {
    const spy = await addSpy()
    const client = await connect(gateway, donna, spy.key, dialect)
    const { id } = await gateway.send('donna', 'hello', { key: spy.key })
    const streams = [client.resubscribeTask({ tenant: '', id }), client.sendMessageStream(saying('hello'))]
    for (const stream of streams) expect(tell((await stream.next()).value!)).toBe('task submitted')
    await takeAway(spy)
    const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'SECRET' }] }
    await gateway.move(donna, id, 'working', { message })
    await gateway.move(donna, id, 'completed')
    for (const stream of streams) {
      const { received, error } = await untilBroken(stream)
      expect(received).toEqual([])
      expect(error).toMatch(/revoked/)
    }
  })

  test.each(dialects)('a send that waits is refused, A2A $version over $binding', async (dialect) => {
    const spy = await addSpy()
    const client = await connect(gateway, donna, spy.key, dialect)
    const before = (await gateway.call('GET', '/v1/tasks')).body.totalSize
    const configuration = dialect.version === '0.3' ? { returnImmediately: false } : undefined
    const waiting = sendForTask(client, saying('wait', {}, configuration))
    const refused = expect(waiting).rejects.toThrow(/revoked/)
    const { body } = await until(
      () => gateway.call('GET', '/v1/tasks'),
      ({ body }) => body.totalSize > before,
    )
    await takeAway(spy)
    await refused
    await gateway.move(donna, body.tasks[0].id, 'completed')
  })

  test('the stream of its log ends with the reason, and shows no later event', async () => {
    const spy = await addSpy()
    const { id } = await gateway.send('donna', 'hello', { key: spy.key })
    await using stream = await openEventStream(`${gateway.url}/v1/events?since=0`, {
      authorization: `Bearer ${spy.key}`,
    })
    const seen = (await stream.take(1))[0]!
    expect(Number(seen.id)).toBeGreaterThan(0)
    await takeAway(spy)
    await gateway.move(donna, id, 'working', {
      message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'SECRET' }] },
    })
    const rest = await stream.take(100)
    expect(JSON.stringify(rest)).not.toContain('working')
    expect(rest.at(-1)).toMatchObject({ event: 'error', data: { code: 'unauthenticated', status: 401 } })
  })
})

test('a revoked sender that waits gets a 401 in the form of its binding', async () => {
  const request = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'wait' }] } }
  const rpc = { jsonrpc: '2.0', id: 7, method: 'SendMessage', params: request }
  for (const [path, body] of [
    ['/agents/donna', rpc],
    ['/agents/donna/message:send', request],
  ] as const) {
    const spy = await addSpy()
    const before = (await gateway.call('GET', '/v1/tasks')).body.totalSize
    const answer = gateway.call('POST', path, body, { key: spy.key, headers: { 'A2A-Version': '1.0' } })
    await until(
      () => gateway.call('GET', '/v1/tasks'),
      ({ body }) => body.totalSize > before,
    )
    await revokeKeys(spy)
    const { status, headers, body: problem } = await answer
    expect(status).toBe(401)
    expect(headers.get('www-authenticate')).toContain('Bearer')
    expect(JSON.stringify(problem.error)).toContain('UNAUTHENTICATED')
  }
})

test('a key that is revoked between its request and its stream opens none', async () => {
  const spy = await addSpy()
  const { id } = await gateway.send('donna', 'hello', { key: spy.key })
  const init = {
    method: 'POST',
    headers: { authorization: `Bearer ${spy.key}`, 'A2A-Version': '1.0', 'content-type': 'application/json' },
    duplex: 'half',
  }
  let finish = (): void => {}
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{'))
      finish = () => {
        controller.enqueue(new TextEncoder().encode('}'))
        controller.close()
      }
    },
  })
  const opening = openEvents(`${gateway.url}/agents/donna/tasks/${id}:subscribe`, { ...init, body } as RequestInit)
  // The key is looked at before the body is read: it is good by then.
  await gateway.call('GET', '/v1/tasks', undefined, { key: spy.key })
  await gateway.call('GET', '/v1/tasks', undefined, { key: spy.key })
  await revokeKeys(spy)
  finish()
  await using stream = await opening
  expect(stream.response.status).toBe(401)
})

test('another key of the same agent continues to work', async () => {
  const spy = await addSpy()
  const { body: second } = await gateway.call('POST', `/v1/agents/${spy.handle}/keys`, {})
  const { id } = await gateway.send('donna', 'hello', { key: spy.key })
  const client = await connect(gateway, donna, second.apiKey, dialects[0]!)
  const stream = client.resubscribeTask({ tenant: '', id })
  await stream.next()
  const { body } = await gateway.call('GET', `/v1/agents/${spy.handle}/keys`)
  const first = body.keys.find(({ keyId }: { keyId: string }) => keyId !== second.keyId)
  await gateway.call('DELETE', `/v1/agents/${spy.handle}/keys/${first.keyId}`)
  await gateway.move(donna, id, 'working')
  await gateway.move(donna, id, 'completed')
  expect(await collect(stream)).toEqual(['status working', 'status completed'])
})
