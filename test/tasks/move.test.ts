import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isTerminal, type TaskState, taskStates } from '../../src/words/task-states.ts'
import { liftRates, startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'

const start = async () => {
  const gateway = await startGateway()
  await liftRates(gateway)
  const [donna, mike, ines] = await Promise.all(['donna', 'mike', 'ines'].map((name) => gateway.addAgent(name)))
  const task = await gateway.send('donna', 'please review', { key: mike!.key })
  return { gateway, donna: donna!, mike: mike!, ines: ines!, task, [Symbol.asyncDispose]: gateway[Symbol.asyncDispose] }
}
const move = (gateway: TestGateway, agent: TestAgent, id: string, body?: unknown, headers?: Record<string, string>) =>
  gateway.call('POST', `/v1/tasks/${id}/transitions`, body, { key: agent.key, ...(headers ? { headers } : {}) })

test('of fifty harnesses that start one task at the same version, one succeeds and the others get the current task', async () => {
  await using s = await start()
  const keys = await Promise.all(
    Array.from({ length: 50 }, async () => {
      const { body } = await s.gateway.call('POST', '/v1/agents/donna/keys', {}, s.donna)
      return body.apiKey as string
    }),
  )
  const answers = await Promise.all(
    keys.map((key) => move(s.gateway, { handle: '@donna', key }, s.task.id, { to: 'working', expectedVersion: 1 })),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(49).fill(409)])
  for (const { body } of answers.filter(({ status }) => status === 409)) {
    expect(body).toMatchObject({
      code: 'version-conflict',
      field: 'expectedVersion',
      current: { id: s.task.id, version: 2, state: 'working' },
    })
    expect(body).not.toHaveProperty('document')
    expect(body.allowed).not.toContain('canceled')
  }
})

test('the version comes from the body, from If-Match, or from both when they agree', async () => {
  await using s = await start()
  const read = await s.gateway.call('GET', `/v1/tasks/${s.task.id}`, undefined, s.donna)
  expect(read.headers.get('etag')).toBe('"1"')
  const take = { to: 'working' }
  const refused = async (body: object, headers: Record<string, string>, expected: object) => {
    const answer = await move(s.gateway, s.donna, s.task.id, body, headers)
    expect(answer.body).toMatchObject(expected)
  }
  await refused(take, {}, { status: 428, code: 'version-required', field: 'expectedVersion' })
  await refused({ ...take, expectedVersion: 1 }, { 'if-match': '"2"' }, { status: 400, field: 'If-Match' })
  for (const form of ['1', '*', '"1", "2"', '"x"', '""', 'W/"1"']) {
    await refused(take, { 'if-match': form }, { status: 400, field: 'If-Match' })
  }
  await refused(take, { 'if-match': '"7"' }, { status: 409, code: 'version-conflict' })
  const first = await move(s.gateway, s.donna, s.task.id, take, { 'if-match': '"1"' })
  expect([first.status, first.headers.get('etag')]).toEqual([200, '"2"'])
  const both = await move(s.gateway, s.donna, s.task.id, { ...take, expectedVersion: 2 }, { 'if-match': '"2"' })
  expect(both.body.version).toBe(3)
})

test('the assignee works, the originator cancels, others see nothing', async () => {
  await using s = await start()
  const at = (version: number, to: string) => ({ to, expectedVersion: version })
  for (const method of ['GET', 'POST'] as const) {
    const path = method === 'GET' ? `/v1/tasks/${s.task.id}` : `/v1/tasks/${s.task.id}/transitions`
    const body = method === 'GET' ? undefined : at(1, 'working')
    const answer = await s.gateway.call(method, path, body, s.ines)
    expect(answer.body).toMatchObject({ status: 404, code: 'task-not-found' })
  }
  expect((await move(s.gateway, s.donna, s.task.id, at(1, 'canceled'))).body).toMatchObject({
    status: 403,
    code: 'forbidden',
    field: 'to',
  })
  expect((await move(s.gateway, s.mike, s.task.id, at(1, 'working'))).status).toBe(403)
  expect((await move(s.gateway, s.donna, s.task.id, at(1, 'submitted'))).body).toMatchObject({
    status: 409,
    code: 'invalid-transition',
    from: 'submitted',
    allowed: ['working', 'input-required', 'auth-required', 'completed', 'failed', 'rejected'],
  })
  expect((await move(s.gateway, s.mike, s.task.id, at(1, 'canceled'))).body.state).toBe('canceled')
  expect((await move(s.gateway, s.donna, s.task.id, at(2, 'working'))).body).toMatchObject({
    code: 'invalid-transition',
    from: 'canceled',
    allowed: [],
  })
})

test('a reply moves a waiting task back to submitted, and the history has all messages in order', async () => {
  await using s = await start()
  await s.gateway.move(s.donna, s.task.id, 'working', { message: 'on it' })
  const question = await s.gateway.move(s.donna, s.task.id, 'input-required', {
    message: { parts: [{ text: 'which?' }] },
  })
  expect(question.body.status.message).toMatchObject({ role: 'ROLE_AGENT', parts: [{ text: 'which?' }] })
  await s.gateway.send('donna', 'the second', { key: s.mike.key, message: { taskId: s.task.id } })
  const { body } = await s.gateway.call('GET', `/v1/tasks/${s.task.id}`, undefined, s.mike)
  expect(body).toMatchObject({ state: 'submitted', version: 4, messageCount: 4 })
  const texts = body.history.map((message: { parts: { text: string }[] }) => message.parts[0]!.text)
  expect(texts).toEqual(['please review', 'on it', 'which?', 'the second'])
})

test('what an operator says with a move is of the party whose move it is', async () => {
  await using s = await start()
  const asOperator = { handle: '@operator', key: s.gateway.adminKey }
  const moved = async (to: string) => (await s.gateway.move(asOperator, s.task.id, to, { message: to })).body
  expect((await moved('input-required')).status.message).toMatchObject({ role: 'ROLE_AGENT' })
  expect((await moved('submitted')).status.message).toMatchObject({ role: 'ROLE_USER' })
  expect((await moved('working')).status.message).toMatchObject({ role: 'ROLE_AGENT' })
  expect((await moved('canceled')).status.message).toMatchObject({ role: 'ROLE_USER' })
})

test('whatever legal and illegal moves are tried, the version counts the legal ones and a finished task stays', async () => {
  await using s = await start()
  const tries = fc.array(fc.tuple(fc.constantFrom(...taskStates), fc.constantFrom('donna', 'mike')), {
    minLength: 1,
    maxLength: 12,
  })
  await fc.assert(
    fc.asyncProperty(tries, async (steps) => {
      const task = await s.gateway.send('donna', 'walk', { key: s.mike.key })
      let version = 1
      let state: TaskState = 'submitted'
      for (const [to, who] of steps) {
        const agent = who === 'donna' ? s.donna : s.mike
        const answer = await move(s.gateway, agent, task.id, { to, expectedVersion: version })
        if (answer.status === 200) {
          expect(isTerminal(state)).toBe(false)
          expect(answer.body).toMatchObject({ state: to, version: version + 1 })
          version += 1
          state = to
        } else {
          expect(['forbidden', 'invalid-transition']).toContain(answer.body.code)
        }
        const read = await s.gateway.call('GET', `/v1/tasks/${task.id}`, undefined, s.mike)
        expect(read.body).toMatchObject({ state, version })
      }
    }),
    { numRuns: 25 },
  )
})
