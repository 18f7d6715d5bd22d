import { type ServiceError, status } from '@grpc/grpc-js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { besideStore, onPostgres } from '../support/store.ts'
import { bearer, rawClient, refusalOf } from './raw-client.ts'

/** Half of a surrogate pair, as an escape in stored JSON. No front accepts it, but an older build may have stored it. */
const half = '\\ud800'
/** Where a test wants it, requests have this word. */
const mark = 'HALF'
const shown = 'a\ufffdb'

let gateway: TestGateway
let mallory: TestAgent
let donna: TestAgent
let current: ReturnType<typeof rawClient>
let legacy: ReturnType<typeof rawClient>

beforeAll(async () => {
  gateway = await startGateway()
  mallory = await gateway.addAgent('mallory')
  donna = await gateway.addAgent('donna')
  current = rawClient(gateway.grpcTarget)
  legacy = rawClient(gateway.grpcTarget, '0.3')
  await storeHalves()
})

afterAll(async () => {
  current[Symbol.dispose]()
  legacy[Symbol.dispose]()
  await gateway[Symbol.asyncDispose]()
})

/** Has the store keep half of a pair wherever a new message or artifact has the word. */
async function storeHalves(): Promise<void> {
  for (const [table, column] of [
    ['task', 'first_message'],
    ['task_message', 'message'],
    ['task_chunk', 'artifact'],
  ] as const) {
    if (onPostgres) {
      const body = `begin new.${column} := replace(new.${column}, '${mark}', '${half}'); return new; end`
      await besideStore(
        gateway.dataDir,
        `create function halve_${table}() returns trigger language plpgsql as '${body.replaceAll("'", "''")}'`,
      )
      await besideStore(
        gateway.dataDir,
        `create trigger halve before insert on ${table} for each row execute function halve_${table}()`,
      )
      continue
    }
    const update = `update ${table} set ${column} = replace(${column}, '${mark}', '${half}') where rowid = new.rowid`
    await besideStore(gateway.dataDir, `create trigger halve_${table} after insert on ${table} begin ${update}; end`)
  }
}

/** Changes donna beside the gateway. It reads her again after a change of its own. */
async function storeOfDonna(column: string, value: string): Promise<void> {
  await besideStore(gateway.dataDir, `update agent set ${column} = ? where handle = '@donna'`, value)
  await gateway.call('PATCH', '/v1/agents/mallory', { description: `${column} ${value}` })
}

const word = `a${mark}b`
const content = {
  messageId: word,
  parts: [
    { text: word },
    { data: { [word]: [word] } },
    { url: word, filename: word, mediaType: word, metadata: { [word]: word } },
  ],
  metadata: { [word]: { [word]: word } },
  extensions: [word],
}

/** A task of mallory for donna, in whose every text the store has half of a pair. */
async function task(): Promise<string> {
  const { id } = await gateway.send('donna', 'x', { key: mallory.key, message: content })
  const [row] = await besideStore(gateway.dataDir, 'select first_message as message from task where id = ?', id)
  expect(String(row?.message).split(half).length).toBeGreaterThan(8)
  expect(String(row?.message)).not.toContain(mark)
  const artifact = { ...content, artifactId: crypto.randomUUID(), name: word, description: word }
  const added = await gateway.call('POST', `/v1/tasks/${id}/artifacts`, { artifact }, donna)
  expect(added.status).toBe(201)
  return id
}

const sent = (version: '1.0' | '0.3') => bearer(mallory.key, version === '0.3' ? { 'a2a-tenant': 'agents/donna' } : {})
const textsOf = (answer: unknown): string => JSON.stringify(answer)

/** The call was answered, with a replacement character for each half, and the gateway still answers. */
async function expectAnswered(answer: unknown): Promise<void> {
  expect(answer).not.toHaveProperty('code')
  expect(textsOf(answer)).toContain(shown)
  expect(textsOf(answer)).not.toMatch(/\\ud[89a-f]/)
  expect((await gateway.call('GET', '/readyz')).status).toBe(200)
}

describe('half of a surrogate pair in the store', () => {
  test('is a replacement character in GetTask', async () => {
    const id = await task()
    await expectAnswered(await current.unary('getTask', { tenant: 'agents/donna', id }, sent('1.0')))
    await expectAnswered(await legacy.unary('getTask', { name: `tasks/${id}`, historyLength: 0 }, sent('0.3')))
  })

  test('is one in ListTasks', async () => {
    await task()
    const request = {
      tenant: 'agents/donna',
      contextId: '',
      status: 0,
      pageToken: '',
      historyLength: 5,
      includeArtifacts: true,
    }
    await expectAnswered(await current.unary('listTasks', request, sent('1.0')))
  })

  test('is one in the answer to another message and to a cancel', async () => {
    const id = await task()
    const message = {
      messageId: 'm',
      role: 1,
      parts: [{ content: { $case: 'text', value: 'and' }, filename: '', mediaType: '' }],
    }
    const more = { ...message, taskId: id, contextId: '', extensions: [], referenceTaskIds: [] }
    const configuration = { acceptedOutputModes: [], returnImmediately: true }
    const request = { tenant: 'agents/donna', message: more, configuration }
    await expectAnswered(await current.unary('sendMessage', request, sent('1.0')))
    await expectAnswered(await current.unary('cancelTask', { tenant: 'agents/donna', id }, sent('1.0')))
  })

  test.each(['1.0', '0.3'] as const)('is one in every event of a stream of v%s', async (version) => {
    const id = await task()
    const events: JsonObject[] = []
    const stream =
      version === '1.0'
        ? current.stream('subscribeToTask', { tenant: 'agents/donna', id }, sent('1.0'))
        : legacy.stream('taskSubscription', { name: `tasks/${id}` }, sent('0.3'))
    const ended = new Promise<unknown>((resolve) => {
      stream.on('end', () => resolve('end')).on('error', (error: ServiceError) => resolve(refusalOf(error)))
    })
    const first = new Promise<void>((resolve) => stream.once('data', () => resolve()))
    stream.on('data', (event: unknown) => events.push(event as JsonObject))
    await first
    const artifact = { artifactId: 'late', parts: [{ text: word }] }
    await gateway.call('POST', `/v1/tasks/${id}/artifacts`, { artifact }, donna)
    const done = { to: 'completed', expectedVersion: 1, message: { parts: [{ text: word }] } }
    expect((await gateway.call('POST', `/v1/tasks/${id}/transitions`, done, donna)).status).toBe(200)
    expect(await ended).toBe('end')
    expect(events).toHaveLength(3)
    for (const event of events) await expectAnswered(event)
  })

  test('is one in a refusal that repeats what is stored', async () => {
    await storeOfDonna('input_modes', `["a${half}b/c"]`)
    const part = { content: { $case: 'text', value: 'x' }, filename: '', mediaType: 'd/e' }
    const message = {
      messageId: 'm',
      role: 1,
      parts: [part],
      taskId: '',
      contextId: '',
      extensions: [],
      referenceTaskIds: [],
    }
    const refused = await current.unary('sendMessage', { tenant: 'agents/donna', message }, sent('1.0'))
    expect(refused).toMatchObject({ code: status.INVALID_ARGUMENT, details: expect.stringContaining(`${shown}/c`) })
    await storeOfDonna('input_modes', '["*/*"]')
  })

  test('is an answer or an error in the extended card of its agent', async () => {
    const skill = { id: 's', name: shown, description: 'd', tags: [], examples: [] }
    const skills = JSON.stringify([skill]).replaceAll(shown, `a${half}b`)
    await storeOfDonna('skills', skills)
    const card = await current.unary('getExtendedAgentCard', { tenant: 'agents/donna' }, sent('1.0'))
    await expectAnswered(card)
    await storeOfDonna('skills', '[]')
  })

  test.skipIf(onPostgres)('is one in a column that is no JSON', async () => {
    const id = await task()
    await besideStore(gateway.dataDir, `update task set context_id = cast(x'61eda08062' as text) where id = ?`, id)
    await expectAnswered(await current.unary('getTask', { tenant: 'agents/donna', id }, sent('1.0')))
    await expectAnswered(await legacy.unary('getTask', { name: `tasks/${id}`, historyLength: 0 }, sent('0.3')))
  })
})
