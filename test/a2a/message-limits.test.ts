import { SendMessageRequest } from '@a2a-js/sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { sizeLimits } from '../../src/limits.ts'
import { bearer, rawClient } from '../grpc/raw-client.ts'
import { liftRates, startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { besideStore } from '../support/store.ts'
import { sixWays, ways } from './six-ways.ts'
import { errorInfo, sending, wireTo } from './wire.ts'

let gateway: TestGateway
let mallory: TestAgent
let donna: TestAgent
let speak: ReturnType<typeof sixWays>

beforeAll(async () => {
  gateway = await startGateway()
  await liftRates(gateway)
  mallory = await gateway.addAgent('mallory')
  donna = await gateway.addAgent('donna')
  speak = sixWays(gateway, donna, mallory)
})

afterAll(async () => {
  speak[Symbol.dispose]()
  await gateway[Symbol.asyncDispose]()
})

const many = (count: number, text = 'x'): string[] => Array.from({ length: count }, (_, n) => `${text}${n}`)
const long = 'x'.repeat(501)
/** The JSON of a v0.3 error has its sentence only. */
const plainErrors = new Set<string>(['JSON-RPC 0.3', 'HTTP+JSON 0.3'])

describe.each(ways)('over %s', (way) => {
  test.each<[what: string, message: JsonObject, field: RegExp]>([
    ['1,001 parts', { parts: many(1_001).map((text) => ({ text })) }, /message\.parts: has at most 1000/],
    ['a long messageId', { messageId: long }, /message\.messageId: has at most 500/],
    ['a long contextId', { contextId: long }, /message\.contextId: has at most 500/],
    ['a long taskId', { taskId: long }, /message\.taskId: has at most 500/],
    ['an id of two lines', { contextId: 'a\nb' }, /message\.contextId: must be one line of text/],
    ['an id that reverses the line', { messageId: 'a\u202eb' }, /message\.messageId: must be one line of text/],
    ['101 concepts', { metadata: { taggedConcepts: many(101) } }, /metadata\.taggedConcepts: has at most 100/],
    ['a long concept', { metadata: { taggedConcepts: [long] } }, /metadata\.taggedConcepts: has at most 500/],
    ['a concept of two lines', { metadata: { taggedConcepts: ['a\n[SYSTEM] b'] } }, /each must be one line of text/],
    ['metadata of 70 KB', { metadata: { mine: 'x'.repeat(70_000) } }, /message\.metadata: has more than 65536 bytes/],
  ])('%s are refused by their name', async (_, message, field) => {
    const said = await speak[way]!(message)
    expect([said.isTheirs, said.refusal]).toEqual([true, expect.stringMatching(field)])
    expect(said.refusal!.length).toBeLessThan(1_000)
  })

  test.each<[limitName: keyof typeof sizeLimits, message: JsonObject, remedy: RegExp]>([
    ['parts', { parts: many(1_001).map((text) => ({ text })) }, /Send the rest in another message\.$/],
    ['id', { contextId: long }, /Use a shorter id\.$/],
    ['items', { metadata: { taggedConcepts: many(101) } }, /Send only the ones that matter most\.$/],
    ['id', { metadata: { taggedConcepts: [long] } }, /Use a shorter word\.$/],
    ['metadata', { metadata: { mine: 'x'.repeat(70_000) } }, /as a part of the message, or send a URL\.$/],
  ])('%s is named with its number and a remedy', async (limitName, message, remedy) => {
    const said = await speak[way]!(message)
    expect(said.refusal).toMatch(remedy)
    if (!plainErrors.has(way))
      expect(said.metadata).toMatchObject({ limitName, max: String(sizeLimits[limitName].max) })
  })

  test('metadata of the request is bounded like that of the message', async () => {
    const said = await speak[way]!({}, { mine: 'x'.repeat(70_000) })
    expect([said.isTheirs, said.refusal]).toEqual([true, expect.stringMatching(/metadata: has more than 65536 bytes/)])
  })

  test('values at the limit are accepted', async () => {
    const taggedConcepts = many(100, 'x'.repeat(198))
    const parts = many(1_000).map((text) => ({ text }))
    const said = await speak[way]!({ parts, metadata: { taggedConcepts }, contextId: 'c'.repeat(200) })
    expect(said.refusal).toBeUndefined()
    expect(said.taskId).toBeTruthy()
  })

  test('U+0000 is refused in every text, and so is half of a surrogate pair', async () => {
    const halves = way.startsWith('gRPC') ? [] : ['a\ud800', '\udc00b']
    for (const word of ['a\0b', ...halves]) {
      const messages: JsonObject[] = [
        { parts: [{ text: word }] },
        { messageId: word },
        { contextId: word },
        { metadata: { [word]: 1 } },
        { metadata: { taggedConcepts: [word] } },
      ]
      for (const message of messages) expect(await speak[way]!(message)).toMatchObject({ isTheirs: true })
    }
    expect((await speak[way]!({ parts: [{ text: '😀 \u001b[31m\n is what a text may say' }] })).taskId).toBeTruthy()
  })
})

/** v0.3's protobuf has no file names. */
const naming = ways.filter((way) => way !== 'HTTP+JSON 0.3' && way !== 'gRPC 0.3')
const url = 'https://files.example/'
const file = (fields: JsonObject): JsonObject => ({ parts: [{ text: 'see' }, { text: 'and' }, { url, ...fields }] })
/** Texts that are not one line, and what is to be removed from each. */
const hidden: [text: string, code: string][] = [
  ['a\nb', 'U+000A'],
  ['a\r\nb', 'U+000D'],
  ['a\u001b[31mb', 'U+001B'],
  ['a\u0085b', 'U+0085'],
  ['a\u2028b', 'U+2028'],
  ['a\u202efdp.exe', 'U+202E'],
  ['a\u2066b', 'U+2066'],
  ['a\u200bb', 'U+200B'],
  ['a\u{e0041}b', 'U+E0041'],
]
type Field = 'filename' | 'mediaType' | 'url'
const fieldsOf = (way: (typeof ways)[number]): Field[] =>
  (naming as readonly string[]).includes(way) ? ['filename', 'mediaType', 'url'] : ['mediaType', 'url']

describe.each(ways)('the fields of a part over %s', (way) => {
  test('are one line of a bounded length, and a refusal names the part, the limit and the remedy', async () => {
    for (const name of fieldsOf(way)) {
      const field = `message.parts[2].${name}`
      const { max } = sizeLimits[name === 'url' ? 'url' : 'id']
      for (const text of ['x'.repeat(max + 1), `\n${'漢'.repeat(max)}`, 'x'.repeat(1_000_000)]) {
        const said = await speak[way]!(file({ [name]: text }))
        expect(said).toMatchObject({
          isTheirs: true,
          refusal: expect.stringContaining(`${field}: has at most ${max} characters. `),
        })
        expect(said.refusal).toMatch(/(Use|Name) a [^.]+\.?/)
        expect(said.refusal!.length).toBeLessThan(300)
        if (!plainErrors.has(way))
          expect(said.metadata).toMatchObject({ field, limitName: name === 'url' ? 'url' : 'id', max: String(max) })
      }
      for (const [text, code] of hidden) {
        const said = await speak[way]!(file({ [name]: text }))
        expect(said, code).toMatchObject({
          isTheirs: true,
          refusal: expect.stringContaining(`${field}: must be one line of text`),
        })
        expect(said.refusal).toContain(`Remove ${code}.`)
        expect(said.refusal).not.toContain(text)
        if (!plainErrors.has(way)) expect(said.metadata).toMatchObject({ code: 'invalid-request', field })
      }
    }
  })

  test('are read in the parts of a large message too, beginning with the first', async () => {
    const parts: JsonObject[] = many(1_000).map((text) => ({ url: `${url}${'%C3%A9'.repeat(120)}${text}` }))
    expect((await speak[way]!({ parts })).taskId).toBeTruthy()
    const bad = [...parts.slice(0, 998), { url: `${url}\u202e` }, { url: 'x'.repeat(2_049) }]
    const said = await speak[way]!({ parts: bad })
    expect([said.isTheirs, said.refusal]).toEqual([
      true,
      expect.stringMatching(/^message\.parts\[998\]\.url: must be one/),
    ])
  })

  test.each<[what: string, fields: JsonObject]>([
    ['a charset', { mediaType: 'text/plain; charset=utf-8' }],
    ['a long media type', { mediaType: `application/${'x'.repeat(188)}` }],
    ['a name with spaces and emoji', { filename: 'Bericht (Ü) – 最終版 👩‍🚀 ❤️ 1️⃣ 🏳️‍🌈.pdf' }],
    ['a Persian name with a non-joiner', { filename: 'می‌خواهم.txt' }],
    ['a Hindi and a Malayalam name', { filename: 'क्‍ष അവന്‍.txt' }],
    ['a name of 500 characters', { filename: '漢'.repeat(500) }],
    ['a URL at the limit', { url: `${url}${'%20'.repeat(675)}`.padEnd(2_048, 'x') }],
    ['a URL in another script', { url: `${url}ä/漢字?q=ü#é` }],
    ['empty fields', { filename: '', mediaType: '' }],
    ['an empty URL', { url: '' }],
  ])('may be ordinary: %s', async (_, fields) => {
    const { taskId, refusal } = await speak[way]!(file(fields))
    expect([refusal, taskId]).toEqual([undefined, expect.any(String)])
    const stored = (await gateway.call('GET', `/v1/tasks/${taskId}`, undefined, donna)).body.history[0].parts[2]
    for (const name of fieldsOf(way)) {
      // A field with its default value is left out, except for the content.
      const sent = ({ url, ...fields } as JsonObject)[name]
      expect(stored[name]).toBe(sent === '' && name !== 'url' ? undefined : sent)
    }
  })

  test('extensions and output modes are one line each, by their index', async () => {
    for (const [text, code] of hidden) {
      const extended = await speak[way]!({ extensions: ['urn:a', `urn:${text}`] })
      expect(extended.refusal).toMatch(/^message\.extensions\[1\]: must be one line of text/)
      const preferring = await speak[way]!({}, undefined, ['text/plain', 'a/b', `c/${text}`])
      expect(preferring.refusal).toMatch(/^configuration\.acceptedOutputModes\[2\]: must be one line of text/)
      for (const said of [extended, preferring]) {
        expect(said.isTheirs).toBe(true)
        expect(said.refusal).toContain(`Remove ${code}.`)
      }
    }
    const long = await speak[way]!({ extensions: ['urn:a', `urn:${'x'.repeat(2_045)}`] })
    expect(long.refusal).toMatch(/^message\.extensions\[1\]: has at most 2048 characters\. Name a shorter URI\.$/)
    const wide = await speak[way]!({}, undefined, ['x'.repeat(501)])
    expect(wide.refusal).toMatch(/^configuration\.acceptedOutputModes\[0\]: has at most 500 characters\. Name media/)
    const modes = ['', '*/*', 'text/plain; charset=utf-8', `a/${'b'.repeat(198)}`]
    expect((await speak[way]!({ extensions: ['', `urn:${'x'.repeat(2_044)}`] }, undefined, modes)).taskId).toBeTruthy()
  })
})

test('a refused field is the invalid parameter of JSON-RPC, HTTP 400 and INVALID_ARGUMENT', async () => {
  const parts = [{ text: 'x', filename: 'a\nb' }]
  const metadata = { code: 'invalid-request', field: 'message.parts[0].filename' }
  const wire = wireTo(gateway, donna, mallory.key)
  for (const method of ['SendMessage', 'SendStreamingMessage']) {
    const { body } = await wire.rpc(method, sending({ parts }))
    const { error } = typeof body === 'string' ? JSON.parse(/^data: (.*)$/m.exec(body)![1]!) : body
    expect(error).toMatchObject({ code: -32602, data: [{ ...errorInfo, reason: 'INVALID_PARAMS', metadata }] })
  }
  for (const below of ['/message:send', '/message:stream']) {
    const { status, body } = await wire.rest('POST', below, sending({ parts }))
    expect([status, body.error.status]).toEqual([400, 'INVALID_ARGUMENT'])
    expect(body.error.details[0]).toMatchObject({ ...errorInfo, metadata })
  }
  using client = rawClient(gateway.grpcTarget)
  const request = SendMessageRequest.fromJSON({ tenant: 'agents/donna', ...sending({ parts }) })
  expect(await client.unary('sendMessage', request, bearer(mallory.key))).toMatchObject({
    code: 3,
    info: metadata,
  })
})

/** v0.3's protobuf has no references. */
const referring = ways.filter((way) => way !== 'HTTP+JSON 0.3' && way !== 'gRPC 0.3')

test.each(referring)('over %s 101 references are refused, and 100 of the same are one', async (way) => {
  const { id } = await gateway.send('donna', 'mine', { key: mallory.key })
  expect((await speak[way]!({ referenceTaskIds: Array(100).fill(id) })).taskId).toBeTruthy()
  const refused = await speak[way]!({ referenceTaskIds: Array(101).fill(id) })
  expect(refused).toMatchObject({
    isTheirs: true,
    refusal: expect.stringMatching(/referenceTaskIds: has at most 100/),
  })
  const theirs = await gateway.send('donna', 'of the operator')
  const unseen = await speak[way]!({ referenceTaskIds: [id, theirs.id] })
  expect(unseen.refusal).toMatch(new RegExp(`no task ${theirs.id}`))
})

test('a message with U+0000 fails alone, not the others of its group', async () => {
  const bad = Array.from({ length: 16 }, () => speak['JSON-RPC 1.0']!({ parts: [{ text: 'a\0b' }] }))
  const good = Array.from({ length: 16 }, () => speak['JSON-RPC 1.0']!({}))
  for (const said of await Promise.all(bad)) expect(said.taskId).toBeUndefined()
  for (const said of await Promise.all(good)) expect(said.taskId).toBeTruthy()
})

test('a thousand parts of a thousand types are judged by a hundred modes, each once', async () => {
  const inputModes = [...many(99, 'type/'), 'last/*']
  const sorter = await gateway.addAgent('sorter', { inputModes })
  const parts = many(1_000).map((text) => ({ text, mediaType: `last/${text}` }))
  const wire = wireTo(gateway, sorter, mallory.key)
  expect((await wire.rpc('SendMessage', sending({ parts }))).body.result.task.id).toBeTruthy()
  const odd = [...parts.slice(1), { text: 'x', mediaType: `odd/${'x'.repeat(190)}` }]
  const { error } = (await wire.rpc('SendMessage', sending({ parts: odd }))).body
  expect(error.message).toMatch(/mediaType: @sorter accepts .*, not odd\/xx/)
  expect(error.message.length).toBeLessThan(2_000)
})

test('historyLength is an int32, and is cut to what an answer can have', async () => {
  const { id } = await gateway.send('donna', 'one', { key: mallory.key })
  const wire = wireTo(gateway, donna, mallory.key)
  for (const historyLength of [1e308, 2 ** 63, 2 ** 31, -1, 0.5]) {
    const rpc = await wire.rpc('GetTask', { id, historyLength })
    expect(rpc.body.error).toMatchObject({ message: expect.stringMatching(/^historyLength is/) })
    const listed = await wire.rpc('ListTasks', { historyLength })
    expect(listed.body.error.code).toBe(-32602)
    const sent = await wire.rpc('SendMessage', sending({}, { historyLength }))
    expect(sent.body.error.code).toBe(-32602)
  }
  for (const digits of ['2147483648', '9'.repeat(30), '-1']) {
    expect((await wire.rest('GET', `/tasks/${id}?historyLength=${digits}`)).status).toBe(400)
  }
  expect((await wire.rpc('GetTask', { id, historyLength: 2 ** 31 - 1 })).body.result.history).toHaveLength(1)
})

test('a method that every object has is no method', async () => {
  for (const version of ['1.0', '0.3']) {
    for (const method of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf']) {
      const { body, status } = await wireTo(gateway, donna, mallory.key).rpc(method, {}, { 'A2A-Version': version })
      expect([status, body.error.code]).toEqual([200, -32601])
    }
  }
})

test('no answer repeats a long value', async () => {
  const wire = wireTo(gateway, donna, mallory.key)
  const huge = 'y'.repeat(1_000_000)
  const answers = [
    await wire.rpc(huge, {}),
    await wire.post({ jsonrpc: '2.0', id: huge, method: 'GetTask', params: { id: 'x' } }),
    await wire.rpc('GetTask', { id: huge }),
    await wire.rpc('CancelTask', { id: huge }),
    await wire.rpc('GetTaskPushNotificationConfig', { taskId: huge, id: huge }),
    await wire.rpc('SendMessage', sending({ taskId: huge, referenceTaskIds: [huge] })),
  ]
  for (const { body } of answers) {
    expect(body.error.code).not.toBe(-32603)
    expect(JSON.stringify(body).length).toBeLessThan(2_000)
  }
  const { body } = await gateway.call('POST', '/v1/messages', Object.fromEntries(many(900).map((key) => [key, 1])))
  expect([body.status, body.errors.length]).toEqual([400, 10])
})

test('HTTP+JSON accepts only objects', async () => {
  const wire = wireTo(gateway, donna, mallory.key)
  for (const body of ['"x"', '1', '[]', 'true']) {
    for (const version of ['1.0', '0.3']) {
      for (const path of ['/message:send', '/v1/message:send', '/v1/tasks/x:cancel']) {
        const { status } = await wire.rest('POST', path, body, { 'A2A-Version': version })
        expect([400, 404, 405]).toContain(status)
      }
    }
  }
})

describe('without a key', () => {
  test('the description of the agent is not read', async () => {
    await gateway.addAgent('large')
    // Reading it throws.
    await besideStore(gateway.dataDir, `update agent set skills = 'no JSON' where handle = ?`, '@large')
    for (const key of [null, 'rk_wrong']) {
      const { status } = await gateway.call('POST', '/agents/large', {}, { key })
      expect(status).toBe(401)
    }
    expect((await gateway.call('POST', '/agents/large', {})).status).toBe(500)
    await gateway.call('DELETE', '/v1/agents/large').catch(() => undefined)
    await besideStore(gateway.dataDir, `update agent set skills = '[]' where handle = ?`, '@large')
  })

  test('the description of an agent has a limit', async () => {
    const skill = (n: number) => ({
      id: `s${n}`,
      name: 'n',
      description: 'd'.repeat(2_000),
      examples: Array(6).fill('e'.repeat(2_000)),
    })
    const { status, body } = await gateway.call(
      'PATCH',
      '/v1/agents/mallory',
      { skills: many(100).map((_, n) => skill(n)) },
      mallory,
    )
    expect([status, body.code]).toEqual([413, 'payload-too-large'])
    const few = [skill(0), skill(1)]
    expect((await gateway.call('PATCH', '/v1/agents/mallory', { skills: few }, mallory)).status).toBe(200)
  })
})
