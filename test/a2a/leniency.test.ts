import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { openEvents } from './event-source.ts'
import { legacy, message, sending, wireTo } from './wire.ts'

let gateway: TestGateway
let donna: TestAgent
let lucy: TestAgent
let wire: ReturnType<typeof wireTo>

beforeAll(async () => {
  gateway = await startGateway()
  donna = await gateway.addAgent('donna', { aliases: ['don'] })
  lucy = await gateway.addAgent('lucy')
  wire = wireTo(gateway, donna, lucy.key)
})

afterAll(() => gateway[Symbol.asyncDispose]())

const v1 = { 'A2A-Version': '1.0' }

describe('an address', () => {
  test.each([
    '/agents/donna',
    '/agents/donna/',
    '/agents/@donna',
    '/agents/%40donna',
    '/agents/DONNA',
    '/agents/don',
    '/projects/default/agents/donna',
    '/projects/default/agents/@donna/',
  ])('%s serves JSON-RPC, REST and the card, without a redirect', async (address) => {
    const call = { key: lucy.key, headers: v1 }
    const rpc = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: sending() }
    expect((await gateway.call('POST', address, rpc, call)).body.result.task.id).toBeTruthy()
    const below = address.replace(/\/$/, '')
    expect((await gateway.call('POST', `${below}/message:send`, sending(), call)).status).toBe(200)
    expect((await gateway.call('GET', `${below}/tasks`, undefined, call)).status).toBe(200)
    expect((await gateway.call('GET', `${below}/tasks/`, undefined, call)).status).toBe(200)
    for (const slashes of ['/', '//']) {
      const card = await gateway.call('GET', `${below}${slashes}.well-known/agent-card.json`, undefined, { key: null })
      expect([card.status, card.body.name]).toEqual([200, 'donna'])
    }
  })

  test('a client that strips the slash of a base URL gets an explanation', async () => {
    const { status, body } = await gateway.call('GET', '/agents/.well-known/agent-card.json', undefined, { key: null })
    expect(status).toBe(404)
    expect(body.detail).toMatch(/slash at the end/)
  })
})

describe('names', () => {
  test('snake_case is read in bodies', async () => {
    const snake = {
      message_id: 'a',
      context_id: 'trip',
      role: 'ROLE_USER',
      parts: [{ text: 'x', media_type: 'text/plain' }],
    }
    const params = { message: snake, configuration: { return_immediately: true, history_length: 0 } }
    for (const { body } of [await wire.rpc('SendMessage', params), await wire.rest('POST', '/message:send', params)]) {
      const { task } = body.result ?? body
      expect(task.contextId).toBe('trip')
      expect(task).not.toHaveProperty('history')
    }
  })

  test('snake_case is read in queries', async () => {
    await wire.rest('POST', '/message:send', sending({ contextId: 'snake' }))
    await wire.rest('POST', '/message:send', sending({ contextId: 'snake' }))
    const { body } = await wire.rest(
      'GET',
      '/tasks?context_id=snake&page_size=1&history_length=0&include_artifacts=true',
    )
    expect(body).toMatchObject({ totalSize: 2, pageSize: 1, tasks: [{ contextId: 'snake', artifacts: [] }] })
    expect(body.tasks[0]).not.toHaveProperty('history')
    const next = await wire.rest('GET', `/tasks?context_id=snake&page_size=1&page_token=${body.nextPageToken}`)
    expect(next.body.tasks[0].id).not.toBe(body.tasks[0].id)
  })

  test('of a repeated parameter the last one counts', async () => {
    const { status, body } = await wire.rest('GET', '/tasks?contextId=none&contextId=snake')
    expect([status, body.totalSize]).toEqual([200, 2])
  })

  test('unknown fields are ignored', async () => {
    const params = { ...sending({ colour: 'blue', parts: [{ text: 'x', mood: 1 }] }), shape: {} }
    expect((await wire.rpc('SendMessage', params)).body.result.task.id).toBeTruthy()
    expect((await wire.rest('POST', '/message:send', params)).status).toBe(200)
    expect((await wire.rest('GET', '/tasks?colour=blue')).status).toBe(200)
  })
})

describe('versions', () => {
  test.each(['1.0', '1.0.1', '1.0.0'])('A2A-Version %s is v1.0', async (version) => {
    expect((await wire.rpc('SendMessage', sending(), { 'A2A-Version': version })).body.result.task.id).toBeTruthy()
    expect((await wire.rest('GET', '/tasks', undefined, { 'A2A-Version': version })).status).toBe(200)
  })

  test('a patch number of v0.3 is v0.3', async () => {
    const { body } = await wire.rpc('tasks/get', { id: 'nope' }, { 'A2A-Version': '0.3.0' })
    expect(body.error.code).toBe(-32001)
  })

  test('the version may be a parameter', async () => {
    const call = { key: lucy.key }
    const rpc = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: sending() }
    expect((await gateway.call('POST', '/agents/donna?A2A-Version=1.0', rpc, call)).body.result.task.id).toBeTruthy()
    const list = await gateway.call('GET', '/agents/donna/tasks?A2A-Version=1.0&pageSize=1', undefined, call)
    expect(list.body.pageSize).toBe(1)
    const card = '/agents/donna/.well-known/agent-card.json?A2A-Version=0.3'
    expect((await gateway.call('GET', card, undefined, { key: null })).body.protocolVersion).toMatch(/^0\.3/)
  })

  test('no version means v0.3, for JSON-RPC and below /v1', async () => {
    const v03 = { kind: 'message', messageId: 'a', role: 'user', parts: [{ kind: 'text', text: 'hello' }] }
    const params = { message: v03, configuration: { blocking: false } }
    const rpc = { jsonrpc: '2.0', id: 1, method: 'message/send', params }
    const { body } = await gateway.call('POST', '/agents/donna', rpc, { key: lucy.key })
    expect(body.result).toMatchObject({ kind: 'task', status: { state: 'submitted' } })
    const task = await gateway.call('GET', `/agents/donna/v1/tasks/${body.result.id}`, undefined, { key: lucy.key })
    expect(task.body.id).toBe(body.result.id)
  })

  test('no version means v1.0 where v0.3 has no operation, also for push notifications', async () => {
    await using receiver = await startReceiver()
    const params = sending({}, { taskPushNotificationConfig: { url: receiver.url } })
    const { body } = await gateway.call('POST', '/agents/donna/message:send', params, { key: lucy.key })
    expect(body.task.status.state).toBe('TASK_STATE_SUBMITTED')
    const [push] = await receiver.waitFor(1)
    expect(push!.body.task.id).toBe(body.task.id)
  })
})

describe('empty bodies', () => {
  const bodies = [
    ['nothing', undefined, {}],
    ['nothing, with a content-type', '', {}],
    ['nothing, in chunks', '', { 'transfer-encoding': 'chunked' }],
    ['null', 'null', {}],
    ['an empty object', '{}', {}],
  ] as const

  test.each(bodies)('%s cancels in both versions', async (_, body, headers) => {
    for (const [prefix, version] of [
      ['', '1.0'],
      ['/v1', '0.3'],
    ]) {
      const { id } = await gateway.send('donna', 'hello', { key: lucy.key })
      const path = `/agents/donna${prefix}/tasks/${id}:cancel`
      const answer = await send(path, body, { 'A2A-Version': version!, ...headers })
      expect([answer.status, answer.body.id]).toEqual([200, id])
    }
  })

  test.each(bodies)('%s subscribes in both versions', async (_, body, headers) => {
    for (const [prefix, version] of [
      ['', '1.0'],
      ['/v1', '0.3'],
    ]) {
      const { id } = await gateway.send('donna', 'hello', { key: lucy.key })
      const path = `/agents/donna${prefix}/tasks/${id}:subscribe`
      // The first message of the stream says that the caller is subscribed; a task that has ended takes no subscribers.
      const complete = () => gateway.move(donna, id, 'completed')
      const { status, text } = await send(path, body, { 'A2A-Version': version!, ...headers }, complete)
      expect(status).toBe(200)
      expect(text).toMatch(/TASK_STATE_COMPLETED/)
    }
  })

  /** By hand: fetch would not send an empty body in chunks. */
  function send(
    path: string,
    body: string | undefined,
    headers: Record<string, string>,
    onFirstChunk?: () => Promise<unknown>,
  ) {
    const sent = { authorization: `Bearer ${lucy.key}`, ...headers }
    // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire carries
    return new Promise<{ status: number | undefined; text: string; body: any }>((resolve, reject) => {
      const typed = body === undefined ? sent : { ...sent, 'content-type': 'application/json' }
      const outgoing = request(gateway.url + path, { method: 'POST', headers: typed }, async (res) => {
        let text = ''
        for await (const chunk of res) {
          if (text === '') onFirstChunk?.().catch(reject)
          text += chunk
        }
        resolve({ status: res.statusCode, text, body: text.startsWith('{') ? JSON.parse(text) : undefined })
      })
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  }
})

test('subscribing with GET works as with POST', async () => {
  const { id } = await gateway.send('donna', 'hello', { key: lucy.key })
  const headers = { authorization: `Bearer ${lucy.key}`, 'A2A-Version': '1.0' }
  await using stream = await openEvents(`${gateway.url}/agents/donna/tasks/${id}:subscribe`, { headers })
  expect((await stream.next())?.data.task.id).toBe(id)
})

test('a v0.3 REST client may leave the task out of a push config’s body', async () => {
  const { id } = await gateway.send('donna', 'hello', { key: lucy.key })
  const path = `/v1/tasks/${id}/pushNotificationConfigs`
  const config = { pushNotificationConfig: { id: 'mine', url: 'http://127.0.0.1:9/' } }
  expect((await wire.rest('POST', path, config, legacy)).status).toBe(201)
  const { body } = await wire.rest('GET', `${path}/mine`, undefined, legacy)
  expect(body.pushNotificationConfig.url).toBe('http://127.0.0.1:9/')
})

test('application/a2a+json is accepted over REST', async () => {
  const headers = { 'content-type': 'application/a2a+json' }
  const { status, headers: answered } = await wire.rest(
    'POST',
    '/message:send',
    { message: message(), configuration: { returnImmediately: true } },
    headers,
  )
  expect([status, answered.get('content-type')]).toEqual([200, expect.stringContaining('application/a2a+json')])
})
