import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sizeLimits } from '../../src/limits.ts'
import { liftRates, startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { servedMs } from '../support/served-time.ts'
import { besideStore } from '../support/store.ts'

let gateway: TestGateway
let donna: TestAgent
let mallory: TestAgent

beforeAll(async () => {
  gateway = await startGateway()
  await liftRates(gateway)
  donna = await gateway.addAgent('donna')
  mallory = await gateway.addAgent('mallory')
})

afterAll(() => gateway[Symbol.asyncDispose]())

/** Bytes: an answer has room for not quite 27 of these. */
const unit = Math.ceil(sizeLimits.answer.max / 27)
const read = (id: string, query = '') => gateway.call('GET', `/v1/tasks/${id}${query}`, undefined, donna)
const say = (taskId: string, text: string) => gateway.send('donna', text, { key: mallory.key, message: { taskId } })
/** Of others' tasks these are as absent as the task. */
test.each(['messages', 'artifacts'])('the %s of a task are for its parties', async (part) => {
  const id = await start()
  const other = await gateway.addAgent(`other-${part}`)
  expect((await gateway.call('GET', `/v1/tasks/${id}/${part}`, undefined, other)).status).toBe(404)
  expect((await gateway.call('GET', `/v1/tasks/${id}/${part}`, undefined, mallory)).status).toBe(200)
})

const addPiece = (id: string, artifact: object, more: object = {}) =>
  gateway.call('POST', `/v1/tasks/${id}/artifacts`, { artifact, ...more }, donna)
const start = async () => (await gateway.send('donna', 'go', { key: mallory.key })).id
const set = (id: string, column: string, value: number) =>
  besideStore(gateway.dataDir, `update task set ${column} = ? where id = ?`, value, id)
const sizeOf = async (id: string) =>
  Number((await besideStore(gateway.dataDir, 'select size from task where id = ?', id))[0]?.size)

describe('a task that is full', () => {
  test('refuses messages, and says how to continue', async () => {
    const id = await start()
    await set(id, 'message_count', sizeLimits.taskItems.max)
    await expect(say(id, 'one more')).rejects.toThrow(/can have at most 10000 messages.*new task.*referenceTaskIds/)
    const moved = await gateway.move(donna, id, 'working', { message: 'on it' })
    expect([moved.status, moved.body.code, moved.body.limit]).toEqual([413, 'payload-too-large', 'taskItems'])
    expect((await gateway.move(donna, id, 'completed')).status).toBe(200)
  })

  test('refuses pieces of artifacts', async () => {
    const id = await start()
    await set(id, 'chunk_count', sizeLimits.taskItems.max)
    const { status, body } = await addPiece(id, { parts: [{ text: 'x' }] })
    expect([status, body.limit]).toEqual([413, 'taskItems'])
  })

  test('refuses bytes from every caller, and can still be finished', async () => {
    const id = await start()
    await set(id, 'size', sizeLimits.taskBytes.max - 1_000)
    const large = 'x'.repeat(2_000)
    await expect(say(id, large)).rejects.toThrow(/can have at most 134217728 bytes/)
    expect((await addPiece(id, { parts: [{ text: large }] })).body.limit).toBe('taskBytes')
    const together = [{ parts: [{ text: 'x'.repeat(400) }] }, { parts: [{ text: 'x'.repeat(600) }] }]
    expect((await gateway.move(donna, id, 'working', { artifacts: together })).body.limit).toBe('taskBytes')
    await say(id, 'a word')
    expect((await gateway.move(donna, id, 'failed', { message: 'full' })).status).toBe(200)
  })

  test('is failed by the gateway when no agent starts it in time', async () => {
    const metadata = { expiresAt: new Date(Date.now() + 1_500).toISOString() }
    const { id } = await gateway.send('donna', 'soon', { key: mallory.key, message: { metadata } })
    await set(id, 'size', sizeLimits.taskBytes.max)
    await expect.poll(async () => (await read(id)).body.state, { timeout: 30_000 }).toBe('failed')
  })
})

test('the size of a task is counted with every write', async () => {
  const id = await start()
  await say(id, 'äöü')
  await addPiece(id, { artifactId: 'a', parts: [{ text: 'one' }] })
  await gateway.move(donna, id, 'input-required', { message: 'which?', artifacts: [{ parts: [{ text: 'two' }] }] })
  await say(id, 'that one')
  await gateway.move(donna, id, 'completed', { message: 'done' })
  const [held] = await besideStore(
    gateway.dataDir,
    `select (select sum(size) from task_message where task_id = ?) as messages,
      (select first_size from task where id = ?) as first,
      (select sum(size) from task_chunk where task_id = ?) as pieces`,
    id,
    id,
    id,
  )
  expect(await sizeOf(id)).toBe(Number(held?.messages) + Number(held?.first) + Number(held?.pieces))
  expect(await sizeOf(id)).toBeGreaterThan(500)
})

describe('an answer', () => {
  /** Nine artifacts of three units, with a message of the same size before and after each. */
  async function startLarge(): Promise<string> {
    const id = await start()
    for (let n = 0; n < 9; n++) await addPiece(id, { artifactId: `a${n}`, parts: [{ text: `${n}`.repeat(3 * unit) }] })
    await say(id, 'm'.repeat(5 * unit))
    await say(id, 'the newest')
    return id
  }

  test('has the first pieces and the newest messages that fit, and counts the rest', async () => {
    const id = await startLarge()
    const { body } = await read(id)
    expect(JSON.stringify(body).length).toBeLessThan(sizeLimits.answer.max + unit)
    expect(body.artifacts.map((artifact: { artifactId: string }) => artifact.artifactId)).toEqual(
      Array.from({ length: 8 }, (_, n) => `a${n}`),
    )
    expect(body.history.map((message: { parts: { text: string }[] }) => message.parts[0]?.text)).toEqual(['the newest'])
    expect(body.omitted).toEqual({ messages: 2, artifactPieces: 1 })
    const messages: string[] = []
    const pieces: string[] = []
    for (let token = ''; ; ) {
      const page = (await read(id, `/messages?limit=2${token && `&pageToken=${token}`}`)).body
      messages.push(
        ...page.messages.map((message: { parts: { text: string }[] }) => message.parts[0]!.text.slice(0, 3)),
      )
      token = page.nextPageToken
      if (!token) break
    }
    for (let token = ''; ; ) {
      const page = (await read(id, `/artifacts${token && `?pageToken=${token}`}`)).body
      expect(JSON.stringify(page).length).toBeLessThan(sizeLimits.answer.max + unit)
      pieces.push(...page.pieces.map((piece: { artifact: { artifactId: string } }) => piece.artifact.artifactId))
      token = page.nextPageToken
      if (!token) break
    }
    expect(messages).toEqual(['go', 'mmm', 'the'])
    expect(pieces).toEqual(Array.from({ length: 9 }, (_, n) => `a${n}`))
    const { result } = (await overA2a('GetTask', { id })).body
    expect([result.artifacts.length, result.history.length]).toEqual([8, 1])
    expect(result.metadata.omitted).toEqual({ messages: 2, artifactPieces: 1 })
  }, 60_000)

  test('does not count replaced pieces of an artifact', async () => {
    const id = await start()
    for (let n = 0; n < 9; n++) await addPiece(id, { artifactId: 'a', parts: [{ text: `${n}`.repeat(3 * unit) }] })
    await addPiece(id, { artifactId: 'a', parts: [{ text: 'and more' }] }, { append: true })
    const { body } = await read(id)
    expect(body.artifacts).toHaveLength(1)
    expect(body.artifacts[0].parts.map(({ text }: { text: string }) => text.slice(0, 8))).toEqual([
      '88888888',
      'and more',
    ])
    expect(body.omitted).toBeUndefined()
  }, 60_000)

  test('with many tasks ends when it is full, and the next page continues there', async () => {
    const team = await gateway.addAgent('team')
    const ids: string[] = []
    for (let n = 0; n < 9; n++) ids.unshift((await gateway.send('team', 'x'.repeat(4 * unit), { key: mallory.key })).id)
    const headers = { 'A2A-Version': '1.0' }
    const pageOf = (path: string, token: string) =>
      gateway.call('GET', `${path}${token && `&pageToken=${token}`}`, undefined, { key: team.key, headers })
    for (const path of ['/v1/tasks?pageSize=100', '/agents/team/tasks?pageSize=100']) {
      const listed: string[] = []
      const sizes: number[] = []
      for (let token: string | undefined = ''; token !== undefined; ) {
        const { body } = await pageOf(path, token)
        listed.push(...body.tasks.map(({ id }: { id: string }) => id))
        sizes.push(JSON.stringify(body).length)
        token = body.nextPageToken || undefined
      }
      expect(listed).toEqual(ids)
      expect(sizes.length).toBe(2)
      expect(Math.max(...sizes)).toBeLessThan(sizeLimits.answer.max + unit)
    }
    // Without history all of them fit.
    expect((await pageOf('/v1/tasks?pageSize=100&historyLength=0', '')).body.tasks).toHaveLength(9)
  }, 60_000)

  function overA2a(method: string, params: object) {
    const headers = { 'A2A-Version': '1.0' }
    return gateway.call(
      'POST',
      '/agents/donna',
      { jsonrpc: '2.0', id: 1, method, params },
      { key: mallory.key, headers },
    )
  }
})

test('a hundred messages of many small values are cut to the size of an answer, quickly', async () => {
  const id = await start()
  const data = Array(9_000).fill([])
  const message = { taskId: id, parts: [{ data }] }
  for (let n = 0; n < 30; n++)
    await gateway.send('donna', '', { key: mallory.key, message, configuration: { historyLength: 0 } })
  const { body } = await read(id)
  expect(body.omitted.messages).toBeGreaterThan(5)
  expect(body.history.length).toBeGreaterThan(5)
  expect(body.history.length + body.omitted.messages).toBe(31)
})

test('ten thousand pieces are assembled in linear time', async () => {
  const id = await start()
  await addPiece(id, { artifactId: 'a', parts: [{ text: '0' }] })
  const piece = '{"artifactId":"a","parts":[{"text":"x"}]}'
  await besideStore(
    gateway.dataDir,
    `insert into task_chunk (task_id, seq, artifact_id, append, last_chunk, artifact, created_at)
      with recursive n(i) as (select 2 union all select i + 1 from n where i < 10000)
      select ?, i, 'a', 1, 0, ?, 0 from n`,
    id,
    piece,
  )
  await set(id, 'chunk_count', 10_000)
  const started = servedMs()
  const { body } = await read(id)
  expect(body.artifacts[0].parts).toHaveLength(10_000)
  expect(servedMs() - started).toBeLessThan(5_000)
})
