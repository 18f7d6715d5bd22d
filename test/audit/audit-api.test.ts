import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { atOnce, connect, dialects, saying, sendForTask } from '../a2a/connect.ts'
import { legacy, wireTo } from '../a2a/wire.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { besideStore } from '../support/store.ts'
import { until } from '../support/until.ts'

let gateway: TestGateway
let donna: TestAgent
let donnaKeyId: string

beforeAll(async () => {
  gateway = await startGateway({ env: { ROUSE_WRONG_KEYS_PER_MINUTE: '0' } })
  donna = await gateway.addAgent('donna')
  donnaKeyId = (await gateway.call('GET', '/v1/agents/donna/keys')).body.keys[0].keyId
  await gateway.addAgent('mike')
  await gateway.call('POST', '/v1/projects', { project: 'blue' })
})
afterAll(() => gateway[Symbol.asyncDispose]())

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire carries
type Row = any

const read = async (query: string, headers: Record<string, string> = {}): Promise<Row[]> =>
  (await gateway.call('GET', `/v1/audit?${query}`, undefined, { headers })).body.records
const untilRead = (query: string, count = 1): Promise<Row[]> =>
  until(
    () => read(query),
    (rows) => rows.length >= count,
  )

describe('what is managed', () => {
  test('is stored before its answer: who, with which key, from where, what, to what', async () => {
    const made = await gateway.call('POST', '/v1/agents/donna/keys', { label: 'secret label' }, donna)
    const rows = await besideStore(gateway.dataDir, "select * from audit where operation = 'key.make'")
    expect(rows).toEqual([
      {
        id: expect.any(String),
        at: expect.any(Number),
        last_at: expect.any(Number),
        project_id: 'default',
        actor: '@donna',
        caller_id: expect.stringMatching(/^agent_/),
        key_id: donnaKeyId,
        address: '127.0.0.1',
        front: 'rest',
        operation: 'key.make',
        target: `donna ${made.body.keyId}`,
        outcome: 'ok',
        count: 1,
      },
    ])
  })

  test.each([
    ['POST', '/v1/agents', { handle: 'lucy' }, 'agent.register', 'lucy'],
    ['PATCH', '/v1/agents/lucy', { description: 'x' }, 'agent.change', 'lucy'],
    // However a caller spells it: who searches for lucy finds it.
    ['PATCH', '/v1/agents/%6c%75cy', { description: 'y' }, 'agent.change', 'lucy'],
    ['POST', '/v1/projects', { project: 'green' }, 'project.make', 'green'],
    ['DELETE', '/v1/agents/lucy', undefined, 'agent.remove', 'lucy'],
  ])('%s %s', async (method, path, body, operation, target) => {
    expect((await gateway.call(method, path, body)).status).toBeLessThan(300)
    const rows = await besideStore(gateway.dataDir, 'select * from audit where operation = ? order by id', operation)
    expect(rows.at(-1)).toMatchObject({ actor: '@operator', key_id: 'admin', target, outcome: 'ok' })
  })

  test('a push config over A2A too, in every binding', async () => {
    for (const dialect of dialects) {
      const client = await connect(gateway, { handle: '@mike' }, donna.key, dialect)
      const { id } = await sendForTask(client, saying('hello', {}, atOnce))
      const config = {
        tenant: '',
        taskId: id,
        id: 'c',
        url: 'http://127.0.0.1:9/',
        token: '',
        authentication: undefined,
      }
      await client.createTaskPushNotificationConfig(config)
      const rows = await besideStore(
        gateway.dataDir,
        'select * from audit where target = ? and key_id = ?',
        id,
        donnaKeyId,
      )
      const kept = rows.find(({ operation }) => operation === 'CreateTaskPushNotificationConfig')
      expect(kept, `${dialect.version} ${dialect.binding}`).toMatchObject({ outcome: 'ok', actor: '@donna' })
    }
  })
})

describe('what is worked', () => {
  test.each(dialects)('a message over $binding $version, with its task', async (dialect) => {
    const client = await connect(gateway, { handle: '@mike' }, donna.key, dialect)
    const { id } = await sendForTask(client, saying('hello', {}, atOnce))
    const rows = await until(
      () => read('operation=SendMessage&limit=500'),
      (found) => found.some((row) => row.target === id),
    )
    expect(rows.find((row) => row.target === id)).toMatchObject({
      actor: '@donna',
      keyId: donnaKeyId,
      address: '127.0.0.1',
      front: { JSONRPC: 'json-rpc', 'HTTP+JSON': 'http+json', GRPC: 'grpc' }[dialect.binding],
      outcome: 'ok',
      project: 'default',
    })
  })

  test('a blocking message is there while its sender waits', async () => {
    const hanging = new AbortController()
    const params = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'waits' }] } }
    const sent = fetch(`${gateway.url}/agents/donna`, {
      method: 'POST',
      signal: hanging.signal,
      headers: {
        authorization: `Bearer ${gateway.adminKey}`,
        'content-type': 'application/json',
        'A2A-Version': '1.0',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params }),
    }).catch(() => undefined)
    await untilRead('operation=SendMessage&actor=@operator')
    hanging.abort()
    await sent
  })

  test('mail, its marks, sessions and claims; a sign of life is not', async () => {
    const sent = await gateway.call('POST', '/v1/messages', { to: 'donna', subject: 'secret subject' })
    const { messageId } = sent.body
    await gateway.call('POST', `/v1/messages/${messageId}/status`, { status: 'seen' }, donna)
    const { sessionId } = (await gateway.call('POST', '/v1/sessions', { surface: 'test' }, donna)).body
    await gateway.call('PUT', `/v1/sessions/${sessionId}`, {}, donna)
    await gateway.call('POST', '/v1/claims', { ref: 'issue-7' }, donna)
    await gateway.call('DELETE', `/v1/sessions/${sessionId}`, undefined, donna)
    await untilRead('operation=session.end')
    const rows = (await read('limit=500')).map((row) => `${row.operation} ${row.target}`)
    expect(rows).toEqual(
      expect.arrayContaining([
        `message.send ${messageId}`,
        `message.mark ${messageId}`,
        `session.start ${sessionId}`,
        `session.end ${sessionId}`,
        'claim.take issue-7',
      ]),
    )
    expect(rows.join()).not.toContain('session.beat')
  })

  test('reading the mail of others is recorded, reading its own is not', async () => {
    await gateway.call('GET', '/v1/inbox?agent=donna')
    await gateway.call('GET', '/v1/inbox', undefined, donna)
    await untilRead('operation=inbox.read')
    expect(await read('operation=inbox.read')).toMatchObject([{ actor: '@operator', target: 'donna' }])
  })
})

describe('what is refused', () => {
  test('300 unknown keys from one address are one record; so are 300 refusals of one key', async () => {
    for (let i = 0; i < 300; i++) await gateway.call('GET', '/v1/projects', undefined, { key: `rk_guess${i}` })
    for (let i = 0; i < 20; i++) await gateway.call('POST', '/v1/projects', { project: 'mine' }, donna)
    const counted = (rows: Row[]) => rows.reduce((sum, row) => sum + row.count, 0)
    const unknown = await until(
      () => read('project=*&operation=project.list&outcome=unauthenticated'),
      (rows) => counted(rows) === 300,
    )
    // Two when the minute changed meanwhile.
    expect(unknown.length).toBeLessThanOrEqual(2)
    expect(unknown[0]).toMatchObject({ actor: '', keyId: null, project: null, address: '127.0.0.1', front: 'rest' })
    const forbidden = await until(
      () => read('operation=project.make&outcome=forbidden'),
      (rows) => counted(rows) === 20,
    )
    expect(forbidden[0]).toMatchObject({ actor: '@donna', keyId: donnaKeyId })
  })

  test.each(dialects)('an unknown key over $binding $version', async (dialect) => {
    const client = await connect(gateway, { handle: '@mike' }, 'rk_unknown', dialect)
    await expect(client.sendMessage(saying('hello', {}, atOnce))).rejects.toThrow(/unknown/)
    const front = { JSONRPC: 'json-rpc', 'HTTP+JSON': 'http+json', GRPC: 'grpc' }[dialect.binding]
    await until(
      () => read('project=*&outcome=unauthenticated&limit=500'),
      (rows) => rows.some((row) => row.front === front && row.address === '127.0.0.1'),
    )
  })

  test.each(dialects)('an agent of another project over $binding $version, where it knocked', async (dialect) => {
    const headers = { 'Rouse-Project': 'blue' }
    const handle = `zoe-${dialect.version.replace('.', '')}-${dialect.binding.toLowerCase().replace('+', '')}`
    const { apiKey } = (await gateway.call('POST', '/v1/agents', { handle }, { headers })).body
    const client = await connect(gateway, { handle: '@mike' }, apiKey, dialect)
    await expect(client.sendMessage(saying('hello', {}, atOnce))).rejects.toThrow(/its own project/)
    const [row] = await untilRead(`actor=blue:@${handle}&outcome=forbidden`)
    expect(row).toMatchObject({ target: '@mike', project: 'default', count: 1 })
  })

  test('a failure of what is audited carries its code', async () => {
    await gateway.call('DELETE', '/v1/agents/nobody%0a%E2%80%AEx')
    expect(await untilRead('operation=agent.remove&outcome=agent-not-found')).toMatchObject([
      { target: expect.stringMatching(/^nobody[^\n\u202e]*x$/), actor: '@operator' },
    ])
  })
})

describe('reading it', () => {
  test('two operators can be told apart by the labels of their keys', async () => {
    const { body } = await gateway.call('POST', '/v1/operator-keys', { label: 'anna', role: 'admin' })
    await gateway.call('POST', '/v1/projects', { project: 'of-anna' }, { key: body.operatorKey })
    const [row] = await read('operation=project.make')
    expect(row).toMatchObject({ actor: '@operator', keyId: body.keyId, keyLabel: 'anna', target: 'of-anna' })
    const [other] = await read('operation=operatorKey.make')
    expect(other).not.toHaveProperty('keyLabel')
  })

  test('is for operators', async () => {
    const { status, body } = await gateway.call('GET', '/v1/audit', undefined, donna)
    expect([status, body.code]).toEqual([403, 'forbidden'])
  })

  test('covers one project, or all of them and the records of none', async () => {
    const blue = { 'Rouse-Project': 'blue' }
    await gateway.call('POST', '/v1/agents', { handle: 'bob' }, { headers: blue })
    const of = (rows: Row[]) => [...new Set(rows.map((row) => row.project))]
    expect(of(await read('', blue))).toEqual(['blue'])
    expect(of(await read(''))).toEqual(['default'])
    expect(of(await read('project=*&limit=500'))).toEqual(expect.arrayContaining(['default', 'blue']))
  })

  test('goes in pages, newest first, and filters', async () => {
    const whole = await read('limit=500')
    const paged: Row[] = []
    let token = ''
    for (let page = 0; page < 500; page++) {
      const { body } = await gateway.call('GET', `/v1/audit?limit=7${token && `&pageToken=${token}`}`)
      paged.push(...body.records)
      token = body.nextPageToken
      if (token === '') break
    }
    const known = new Set(whole.map((row) => row.auditId))
    expect(paged.filter((row) => known.has(row.auditId)).map((row) => row.auditId)).toEqual(
      whole.map((row) => row.auditId),
    )
    expect((await read('actor=@donna')).every((row) => row.actor === '@donna')).toBe(true)
    const later = new Date(Date.parse(whole[0].at) + 3_600_000).toISOString()
    expect(await read(`since=${later}`)).toEqual([])
  })

  test('has no secret: no key, no subject, no label', async () => {
    const rows = await besideStore(gateway.dataDir, 'select * from audit')
    const text = JSON.stringify(rows)
    for (const secret of [gateway.adminKey, donna.key, 'rk_guess', 'secret subject', 'secret label', 'hello']) {
      expect(text).not.toContain(secret)
    }
    expect(rows.length).toBeGreaterThan(20)
  })
})

// The attack: the SDK's v0.3 translator passes on a value of any type, and the record of the refused call could not be stored.
test.each([
  ['tasks/cancel', (id: unknown) => ({ id })],
  [
    'tasks/pushNotificationConfig/set',
    (taskId: unknown) => ({ taskId, pushNotificationConfig: { url: 'https://x.example/' } }),
  ],
  ['tasks/pushNotificationConfig/delete', (id: unknown) => ({ id, pushNotificationConfigId: 'c' })],
])('a call of v0.3 whose task id is no string is refused, and recorded with its agent: %s', async (method, params) => {
  await using apart = await startGateway()
  const lola = await apart.addAgent('lola')
  const wire = wireTo(apart, lola, lola.key)
  // Lists and objects are refused before the call is one of an operation, and are not recorded.
  const odd = [5, true, null]
  for (const id of [[], ['x'], {}, ...odd])
    expect((await wire.rpc(method, params(id), legacy)).body.error.code).toBe(-32602)
  const rows = await until(
    async () => (await apart.call('GET', '/v1/audit?outcome=invalid-request')).body.records as Row[],
    (found) => found.reduce((sum, { count }) => sum + count, 0) >= odd.length,
  )
  expect(rows).toMatchObject([{ actor: '@lola', front: 'json-rpc', target: '@lola' }])
})
