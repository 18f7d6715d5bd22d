import { expect, test } from 'vitest'
import { dataDirectory } from '../support/data-directory.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { besideStore } from '../support/store.ts'
import { until } from '../support/until.ts'
import { hashOf, openDesk, request } from './desk.ts'

const dayMs = 86_400_000

test('the input comes back byte for byte: 16 KB, control, direction and zero-width characters, é', async () => {
  await using desk = await openDesk()
  const hidden =
    'echo a\rrm -rf / # \u202eevil\u202c \u200b\u2066 \u001b[2J \t é e\u0301 ✓ \u{1f469}\u200d\u{1f680} "\\" \u2028'
  for (const input of [
    { command: hidden },
    { command: `${hidden}${'x'.repeat(16_000)} end` },
    { z: 1, a: [1, { b: null }], 10: 'ten', 2: 'two', __proto__x: true, constructor: 'c' },
    JSON.parse('{"__proto__": {"polluted": true}, "a": 1}'),
  ]) {
    const { status, body } = await desk.ask({ input })
    expect(status).toBe(201)
    const read = (await desk.read(body.approvalId, 0, desk.anna)).body
    expect(JSON.stringify(read.input)).toBe(JSON.stringify(input))
    expect(read.inputHash).toBe(hashOf(request({ input })))
    expect(read.inputSize).toBe(Buffer.byteLength(JSON.stringify(input)))
  }
})

test('an input that is too large is not kept, and nobody approves it from here', async () => {
  await using desk = await openDesk()
  const size = 64 * 1024
  const inputOf = (bytes: number) => ({ command: 'x'.repeat(bytes - JSON.stringify({ command: '' }).length) })
  expect((await desk.ask({ input: inputOf(size) })).body).toMatchObject({ inputSize: size, answers: ['once', 'deny'] })
  const { body } = await desk.ask({ input: inputOf(size + 1) })
  expect(body).toMatchObject({ input: null, inputSize: size + 1, answers: [], state: 'open' })
  expect(body.inputHash).toBe(hashOf(request({ input: inputOf(size + 1) })))
  for (const answer of ['once', 'deny']) {
    const decided = await desk.decide(body.approvalId, { answer, inputHash: body.inputHash })
    expect(decided.body).toMatchObject({ status: 400, field: 'answer' })
    expect(decided.body.detail).toContain('Answer in the harness')
  }
  expect((await desk.close(body.approvalId, { state: 'answered_there' })).body.state).toBe('answered_there')
  const { body: page } = await desk.gateway.call('GET', '/v1/approvals', undefined, desk.donna)
  expect(page.approvals).toHaveLength(2)
})

test('an agent has 100 open ones, or as many as its project allows', async () => {
  const clock = new FakeClock()
  await using desk = await openDesk({ overrides: { clock } })
  for (let n = 0; n < 100; n++) expect((await desk.ask({ expiresInSeconds: 60 })).status).toBe(201)
  expect((await desk.ask()).body).toMatchObject({ status: 429, code: 'limit-exceeded', limit: 'approvals', max: 100 })
  await desk.gateway.call('PATCH', '/v1/projects/default', { limits: { approvals: 101 } })
  expect((await desk.ask()).status).toBe(201)
  await clock.advance(60_000)
  expect((await desk.ask()).status).toBe(201)
  const open = await desk.gateway.call('GET', '/v1/approvals?state=open', undefined, desk.donna)
  expect(open.body.approvals).toHaveLength(2)
})

test('open ones outlive a restart with their hash and their nonce, and expire on the gateway that is there then', async () => {
  using directory = dataDirectory()
  const clock = new FakeClock()
  const nonce = crypto.randomUUID()
  const first = await openDesk({ dataDir: directory.path, overrides: { clock } })
  const { body } = await first.ask({ nonce })
  const [short, decided] = [(await first.ask({ expiresInSeconds: 30 })).body, (await first.ask()).body]
  await first.decide(decided.approvalId, { answer: 'deny', message: 'No.', inputHash: decided.inputHash })
  await first.gateway.stop()
  const { startGateway } = await import('../support/gateway.ts')
  await using gateway = await startGateway({ dataDir: directory.path, overrides: { clock } })
  const read = async (id: string) => (await gateway.call('GET', `/v1/approvals/${id}`, undefined, first.donna)).body
  expect(await read(body.approvalId)).toEqual(body)
  expect(await read(decided.approvalId)).toMatchObject({ state: 'answered', decision: { message: 'No.', by: 'anna' } })
  expect((await gateway.call('POST', '/v1/approvals', request({ nonce }), first.donna)).body).toEqual(body)
  await clock.advance(40_000)
  expect((await read(short.approvalId)).state).toBe('expired')
  const stored = async () =>
    (await besideStore(directory.path, 'select state from approval where id = ?', short.approvalId))[0]
  expect(await until(stored, (row) => row?.state === 'expired')).toEqual({ state: 'expired' })
  const yes = { answer: 'once', inputHash: body.inputHash }
  const key = { key: first.anna }
  expect((await gateway.call('POST', `/v1/approvals/${body.approvalId}/decision`, yes, key)).status).toBe(200)
})

test('closed ones go with the audit, and open ones stay', async () => {
  const clock = new FakeClock()
  await using desk = await openDesk({ overrides: { clock }, env: { ROUSE_AUDIT_RETENTION_DAYS: '1' } })
  const [closed, late] = [(await desk.ask()).body, (await desk.ask({ expiresInSeconds: 86_400 })).body]
  await desk.close(closed.approvalId, { state: 'withdrawn' })
  await clock.advance(dayMs / 2)
  expect((await desk.read(closed.approvalId)).status).toBe(200)
  await clock.advance(dayMs / 2 - 60_000)
  expect((await desk.read(late.approvalId)).body.state).toBe('open')
  await clock.advance(180_000)
  const status = async () => {
    await clock.advance(60_000)
    return (await desk.read(closed.approvalId)).status
  }
  expect(await until(status, (found) => found === 404)).toBe(404)
  expect((await desk.read(late.approvalId)).body.state).toBe('expired')
})

test('of what no person decided an agent keeps the newest, and what a person decided is kept', async () => {
  await using desk = await openDesk()
  const { gateway, donna } = desk
  const decided = (await desk.ask()).body
  await desk.decide(decided.approvalId, { answer: 'once', inputHash: decided.inputHash })
  const kept = (await desk.ask()).body
  await desk.close(kept.approvalId, { state: 'withdrawn' })
  await copyRows(gateway.dataDir, kept.approvalId, 150)
  await desk.ask()
  const { n } = (await besideStore(gateway.dataDir, "select count(*) as n from approval where state = 'withdrawn'"))[0]!
  expect(Number(n)).toBe(100)
  expect((await desk.read(decided.approvalId, 0, donna.key)).body.state).toBe('answered')
})

test('10,000 closed ones are pages, and cost a list of what is open nothing', async () => {
  await using desk = await openDesk()
  const { gateway, donna } = desk
  const { approvalId } = (await desk.ask()).body
  await desk.close(approvalId, { state: 'answered_there' })
  await copyRows(gateway.dataDir, approvalId, 10_000)
  const open = (await desk.ask()).body
  const list = async (query: string, key = donna.key) =>
    (await gateway.call('GET', `/v1/approvals?${query}`, undefined, { key })).body
  for (const key of [donna.key, desk.anna]) {
    expect((await list('state=open', key)).approvals).toMatchObject([{ approvalId: open.approvalId }])
    const seen = new Set<string>()
    let pageToken = ''
    do {
      const page = await list(`state=answered_there&agent=@donna&limit=200&pageToken=${pageToken}`, key)
      for (const one of page.approvals) seen.add(one.approvalId)
      pageToken = page.nextPageToken
    } while (pageToken !== '' && seen.size < 1_000)
    expect(seen.size).toBe(1_000)
    expect((await list('conversationId=c-1&state=expired', key)).approvals).toEqual([])
    expect((await list('limit=1', key)).approvals).toMatchObject([{ approvalId: open.approvalId }])
  }
  expect((await gateway.call('GET', '/v1/needs')).body.needs).toMatchObject([{ approvalId: open.approvalId }])
})

/** Repeats a row under other ids, which sort before it. */
async function copyRows(dataDir: string, id: string, times: number): Promise<void> {
  const row = (await besideStore(dataDir, 'select * from approval where id = ?', id))[0]!
  const columns = Object.keys(row)
  const copied = columns.map((name) => (name === 'id' || name === 'nonce' ? `${name} || '-' || n` : name))
  // An id that sorts before all that is asked from now on.
  const older = copied.map((text) => text.replace("id || '-' || n", "'APPROVAL:00' || n"))
  const numbers = `with recursive c(n) as (select 100000 union all select n + 1 from c where n < ${100_000 + times - 1})`
  await besideStore(
    dataDir,
    `insert into approval (${columns.join(', ')}) ${numbers} select ${older.join(', ')} from approval, c where id = ?`,
    id,
  )
}
