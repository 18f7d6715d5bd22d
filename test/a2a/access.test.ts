import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { connect, dialects } from './connect.ts'
import { errorInfo, legacy, sending, wireTo } from './wire.ts'

let gateway: TestGateway
let donna: TestAgent
let lucy: TestAgent
let mallory: TestAgent
let shy: TestAgent
let open: TestAgent
/** Of another project. */
let stranger: TestAgent

beforeAll(async () => {
  gateway = await startGateway()
  await gateway.call('POST', '/v1/projects', { project: 'elsewhere' })
  stranger = await gateway.addAgent('stranger', { project: 'elsewhere' })
  donna = await gateway.addAgent('donna')
  lucy = await gateway.addAgent('lucy')
  mallory = await gateway.addAgent('mallory')
  shy = await gateway.addAgent('shy', { access: 'private' })
  open = await gateway.addAgent('open', { access: 'public' })
})

afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
})

describe('without a key', () => {
  test.each([null, 'rk_wrong'])('every binding answers 401 with a challenge (%s)', async (key) => {
    const wire = wireTo(gateway, donna, key)
    const rpc = await wire.rpc('SendMessage', sending())
    expect(rpc.body).toMatchObject({
      jsonrpc: '2.0',
      error: { code: -32603, data: [{ ...errorInfo, reason: 'UNAUTHENTICATED' }] },
    })
    const rest = await wire.rest('GET', '/tasks')
    expect(rest.body.error).toMatchObject({ code: 401, status: 'UNAUTHENTICATED', details: [errorInfo] })
    const v03 = await wire.rest('GET', '/v1/tasks/a', undefined, legacy)
    expect(v03.body).toMatchObject({ code: -32603, message: expect.stringMatching(/key/i) })
    for (const { status, headers } of [rpc, rest, v03]) {
      expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="rouse"'])
    }
  })

  test('nothing is parsed', async () => {
    const { status } = await wireTo(gateway, donna, null).post('{')
    expect(status).toBe(401)
  })
})

describe.each(dialects)('another agent’s key, A2A $version over $binding', (dialect) => {
  test('cannot read or change a task of another caller', async () => {
    const { id } = await gateway.send('donna', 'secret', { key: lucy.key })
    const client = await connect(gateway, donna, mallory.key, dialect)
    const attempts = {
      get: () => client.getTask({ tenant: '', id }),
      cancel: () => client.cancelTask({ tenant: '', id, metadata: {} }),
      subscribe: () => client.resubscribeTask({ tenant: '', id }).next(),
      configs: () => client.listTaskPushNotificationConfig({ tenant: '', taskId: id, pageSize: 0, pageToken: '' }),
    }
    for (const [name, attempt] of Object.entries(attempts)) await expect(attempt(), name).rejects.toThrow(/No task/i)
    const { body } = await gateway.call('GET', `/v1/tasks/${id}`, undefined, { key: lucy.key })
    expect(body.state).toBe('submitted')
  })

  test('the assignee reads its task but does not cancel it', async () => {
    const { id } = await gateway.send('donna', 'work', { key: lucy.key })
    const client = await connect(gateway, donna, donna.key, dialect)
    expect((await client.getTask({ tenant: '', id })).id).toBe(id)
    await expect(client.cancelTask({ tenant: '', id, metadata: {} })).rejects.toThrow(/only the originator/)
  })

  test('a task is found at its assignee’s address only', async () => {
    const { id } = await gateway.send('donna', 'hello', { key: lucy.key })
    const client = await connect(gateway, mallory, lucy.key, dialect)
    await expect(client.getTask({ tenant: '', id })).rejects.toThrow(/No task .* with @mallory/i)
  })
})

describe('another project', () => {
  const card = (handle: string, key: string | null) =>
    gateway.call('GET', `/agents/${handle}/.well-known/agent-card.json`, undefined, { key })

  test.each([
    ['a key of another project', () => stranger.key],
    ['no key', () => null],
    ['a wrong key', () => 'rk_wrong'],
  ])('does not learn of a private agent with %s', async (_, key) => {
    const [hidden, absent] = [await card('shy', key()), await card('nix', key())]
    expect([hidden.status, absent.status]).toEqual([404, 404])
    expect(JSON.stringify(hidden.body).replaceAll('shy', 'nix')).toBe(JSON.stringify(absent.body))
    const sent = await wireTo(gateway, shy, key()).rpc('SendMessage', sending())
    expect([sent.status, sent.body.error.data[0].reason]).toEqual([404, 'AGENT_NOT_FOUND'])
  })

  test('a private agent is there for its own project', async () => {
    const own = await card('shy', lucy.key)
    expect([own.status, own.headers.get('cache-control')]).toEqual([200, 'private, max-age=60'])
    expect(own.headers.get('vary')).toContain('Authorization')
    expect((await wireTo(gateway, shy, lucy.key).rpc('SendMessage', sending())).body.result.task.id).toBeTruthy()
  })

  test('sees the card of an agent with access `project`, and may not send to it', async () => {
    expect((await card('donna', null)).status).toBe(200)
    const wire = wireTo(gateway, donna, stranger.key)
    const rpc = await wire.rpc('SendMessage', sending())
    expect([rpc.status, rpc.body.error.data[0].reason]).toEqual([403, 'FORBIDDEN'])
    const rest = await wire.rest('POST', '/message:send', sending())
    expect([rest.status, rest.body.error.status]).toEqual([403, 'PERMISSION_DENIED'])
  })

  test('sends to a public agent and follows its own task there, and no other', async () => {
    const wire = wireTo(gateway, open, stranger.key)
    const { task } = (await wire.rpc('SendMessage', sending())).body.result
    expect((await wire.rpc('GetTask', { id: task.id })).body.result.id).toBe(task.id)
    expect((await wire.rpc('CancelTask', { id: task.id })).body.result.status.state).toBe('TASK_STATE_CANCELED')
    const other = await gateway.send('open', 'hello', { key: lucy.key })
    expect((await wire.rpc('GetTask', { id: other.id })).body.error.code).toBe(-32001)
    expect((await wire.rest('GET', '/tasks')).body.totalSize).toBe(1)
  })

  test('has addresses of its own', async () => {
    const path = '/projects/elsewhere/agents/stranger'
    const shown = await gateway.call('GET', `${path}/.well-known/agent-card.json`, undefined, { key: null })
    expect(shown.body.supportedInterfaces[0].url).toBe(gateway.url + path)
    const rpc = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: sending() }
    const headers = { 'A2A-Version': '1.0' }
    const { body } = await gateway.call('POST', path, rpc, { key: stranger.key, headers })
    expect(body.result.task.id).toBeTruthy()
    expect((await gateway.call('POST', path, rpc, { key: lucy.key, headers })).status).toBe(403)
    expect((await card('stranger', lucy.key)).status).toBe(404)
    expect((await gateway.call('GET', '/projects/nowhere/agents/donna/tasks')).status).toBe(404)
  })

  test('the operator reads and moves tasks there, as in its own project', async () => {
    const path = '/projects/elsewhere/agents/stranger'
    const headers = { 'A2A-Version': '1.0' }
    const rpc = (method: string, params: object, key?: string) =>
      gateway.call('POST', path, { jsonrpc: '2.0', id: 1, method, params }, { headers, ...(key ? { key } : {}) })
    const { task } = (await rpc('SendMessage', sending(), stranger.key)).body.result
    expect((await rpc('GetTask', { id: task.id })).body.result.id).toBe(task.id)
    const own = (await rpc('SendMessage', sending())).body.result.task
    expect((await rpc('CancelTask', { id: own.id })).body.result.status.state).toBe('TASK_STATE_CANCELED')
    const listed = await gateway.call('GET', '/v1/tasks', undefined, { headers: { 'Rouse-Project': 'elsewhere' } })
    expect(listed.body.tasks.map(({ id }: { id: string }) => id)).toContain(own.id)
  })

  // S1-26
  test('a grant allows calls within its scope, until it is revoked', async () => {
    const wire = wireTo(gateway, donna, stranger.key)
    const input = { grantee: 'elsewhere:stranger', scope: 'CAN_REPLY_TO' }
    const { permissionId } = (await gateway.call('POST', '/v1/permissions', input, donna)).body
    const { task } = (await wire.rpc('SendMessage', sending())).body.result
    expect(task.id).toBeTruthy()
    const { messages } = (await gateway.call('GET', '/v1/inbox?order=newest', undefined, donna)).body
    expect(messages[0]).toMatchObject({ from: 'elsewhere:@stranger', taskId: task.id })
    expect((await wireTo(gateway, lucy, stranger.key).rpc('SendMessage', sending())).status).toBe(403)
    await gateway.call('DELETE', `/v1/permissions/${permissionId}`, undefined, donna)
    expect((await wire.rpc('SendMessage', sending())).status).toBe(403)
  })
})
