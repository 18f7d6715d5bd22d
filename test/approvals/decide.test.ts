import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { until } from '../support/until.ts'
import { bash, hashOf, openDesk, request } from './desk.ts'
import { personKey } from './person-key.ts'

test('a harness asks, a person reads exactly that and decides, and the held read of the harness has the answer', async () => {
  await using desk = await openDesk()
  const asked = request({ reason: 'To start anew.', cwd: '/work', mode: 'default' })
  const { status, body } = await desk.ask(asked)
  expect(status).toBe(201)
  expect(body).toMatchObject({
    agent: '@donna',
    harness: 'claude',
    conversationId: 'c-1',
    sessionId: null,
    kind: 'permission',
    tool: 'Bash',
    input: bash,
    inputSize: Buffer.byteLength(JSON.stringify(bash)),
    inputHash: hashOf(asked),
    reason: 'To start anew.',
    cwd: '/work',
    mode: 'default',
    answers: ['once', 'deny'],
    state: 'open',
    decision: null,
    outcome: null,
  })
  expect(Date.parse(body.expiresAt) - Date.parse(body.askedAt)).toBe(600_000)
  const held = desk.read(body.approvalId, 50)
  const shown = await desk.read(body.approvalId, 0, desk.anna)
  const decided = await desk.decide(body.approvalId, { answer: 'once', inputHash: shown.body.inputHash })
  const decision = { answer: 'once', message: null, answers: null, by: 'anna', at: expect.any(String) }
  expect([decided.status, decided.body]).toEqual([200, { ...body, state: 'answered', decision }])
  expect((await held).body).toEqual(decided.body)
  expect((await desk.close(body.approvalId, { outcome: 'taken' })).body).toMatchObject({ outcome: 'taken' })
})

test('a held read ends when its time is over, and when the approval expires', async () => {
  const clock = new FakeClock()
  await using desk = await openDesk({ overrides: { clock } })
  const { approvalId } = (await desk.ask({ expiresInSeconds: 5 })).body
  expect((await desk.read(approvalId, 0)).body.state).toBe('open')
  const held = desk.read(approvalId, 50)
  await clock.advance(5_000)
  expect((await held).body.state).toBe('expired')
  const late = await desk.decide(approvalId, { answer: 'once', inputHash: 'a'.repeat(64) })
  expect(late.body).toMatchObject({ status: 409, code: 'approval-answered', state: 'expired' })
  const { events } = (await desk.gateway.call('GET', '/v1/events?since=0')).body
  expect(events.filter(({ type }: { type: string }) => type.startsWith('approval.'))).toMatchObject([
    {
      type: 'approval.asked',
      actor: '@donna',
      data: { approvalId, agent: '@donna', kind: 'permission', tool: 'Bash', harness: 'claude' },
    },
    { type: 'approval.closed', actor: '@gateway', data: { approvalId, state: 'expired' } },
  ])
})

test('of two people the first decides, and the other learns who and what', async () => {
  await using desk = await openDesk()
  const ben = await personKey(desk.gateway, 'ben')
  const { approvalId, inputHash } = (await desk.ask()).body
  await desk.decide(approvalId, { answer: 'deny', message: 'Not on Friday.', inputHash })
  const lost = await desk.decide(approvalId, { answer: 'once', inputHash }, ben)
  expect(lost.body).toMatchObject({
    status: 409,
    code: 'approval-answered',
    state: 'answered',
    by: 'anna',
    answer: 'deny',
  })
  expect(lost.body.detail).toMatch(/^anna answered "deny" at 20/)
})

test('of 50 decisions at once one counts, and all others learn of it', async () => {
  await using desk = await openDesk()
  const people = await Promise.all(Array.from({ length: 5 }, (_, n) => personKey(desk.gateway, `person ${n}`)))
  const { approvalId, inputHash } = (await desk.ask()).body
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) =>
      desk.decide(approvalId, { answer: n % 2 === 0 ? 'once' : 'deny', inputHash }, people[n % 5]),
    ),
  )
  const won = answers.filter(({ status }) => status === 200)
  expect(won).toHaveLength(1)
  const { decision } = won[0]!.body
  for (const { status, body } of answers.filter((one) => one !== won[0])) {
    expect({ status, body }).toMatchObject({ status: 409, body: { by: decision.by, answer: decision.answer } })
  }
  const { events } = (await desk.gateway.call('GET', '/v1/events?since=0')).body
  const closed = events.filter(({ type }: { type: string }) => type === 'approval.closed')
  expect(closed).toMatchObject([{ data: { approvalId, state: 'answered', answer: decision.answer, by: decision.by } }])
})

test('who may not decide changes nothing, and is on record', async () => {
  await using desk = await openDesk()
  const { gateway, donna, anna } = desk
  await gateway.call('POST', '/v1/projects', { project: 'web' })
  const key = async (fields: object) => (await gateway.call('POST', '/v1/operator-keys', fields)).body.operatorKey
  const mike = await gateway.addAgent('mike')
  const { approvalId, inputHash } = (await desk.ask()).body
  const other = (await desk.ask({ conversationId: 'c-2' })).body
  const yes = { answer: 'once', inputHash }
  const refused = [
    ['forbidden', await desk.decide(approvalId, yes, donna.key)],
    ['forbidden', await desk.decide(approvalId, yes, mike.key)],
    ['forbidden', await desk.decide(approvalId, yes, gateway.adminKey)],
    ['forbidden', await desk.decide(approvalId, yes, await key({ role: 'manager', label: 'script' }))],
    ['forbidden', await desk.decide(approvalId, yes, await key({ role: 'viewer', label: 'vera' }))],
    ['not-found', await desk.decide(approvalId, yes, await personKey(gateway, 'wes', { projects: ['web'] }))],
    ['unauthenticated', await desk.decide(approvalId, yes, 'rko_unknown')],
    ['approval-changed', await desk.decide(approvalId, { ...yes, inputHash: other.inputHash })],
    [
      'approval-changed',
      await desk.decide(approvalId, { ...yes, inputHash: hashOf(request({ input: { command: 'ls' } })) }),
    ],
    ['invalid-request', await desk.decide(approvalId, { ...yes, answer: 'answer', answers: { x: 'y' } })],
    ['invalid-request', await desk.decide(approvalId, { ...yes, message: 'for a no' })],
    ['invalid-request', await desk.decide(approvalId, { ...yes, answer: 'always' })],
    ['not-found', await desk.decide('APPROVAL:01J00000000000000000000000', yes)],
  ] as const
  for (const [code, { body }] of refused) expect(body).toMatchObject({ code })
  for (const [code, { body }] of refused) {
    if (code === 'forbidden') expect(body).toMatchObject({ remedy: 'use-key-of-person' })
  }
  expect((await desk.read(approvalId)).body).toMatchObject({ state: 'open', decision: null })
  const audit = async () => (await gateway.call('GET', '/v1/audit?project=*&operation=approval.decide')).body.records
  const records = await until(audit, (found) => count(found) === refused.length)
  expect(new Set(records.map(({ outcome }: Entry) => outcome))).toEqual(new Set(refused.map(([code]) => code)))
  await desk.decide(approvalId, yes, anna)
  expect((await audit())[0]).toMatchObject({
    outcome: 'ok',
    keyLabel: 'anna',
    address: expect.stringMatching(/127\.0\.0\.1|::1/),
    target: `${approvalId} once ${inputHash}`,
  })
})

interface Entry {
  readonly outcome: string
  readonly count: number
}
const count = (records: readonly Entry[]): number => records.reduce((sum, one) => sum + one.count, 0)

test('a nonce stands for one request: again it is the same approval, with other input it is refused', async () => {
  await using desk = await openDesk()
  const asked = request()
  const first = await desk.ask(asked)
  const again = await desk.ask({ ...asked, reason: 'Said otherwise.' })
  expect([again.status, again.body]).toEqual([200, first.body])
  for (const other of [
    { input: { command: 'ls' } },
    { tool: 'Write' },
    { conversationId: 'c-2' },
    { harness: 'codex' },
  ]) {
    expect((await desk.ask({ ...asked, ...other })).body).toMatchObject({
      status: 409,
      code: 'approval-changed',
      field: 'nonce',
    })
  }
  await desk.decide(first.body.approvalId, { answer: 'once', inputHash: first.body.inputHash })
  expect((await desk.ask(asked)).body).toMatchObject({ approvalId: first.body.approvalId, state: 'answered' })
  const mike = await desk.gateway.addAgent('mike')
  const ofMike = await desk.gateway.call('POST', '/v1/approvals', asked, mike)
  expect([ofMike.status, ofMike.body.approvalId === first.body.approvalId]).toEqual([201, false])
  const own = await desk.gateway.call('GET', `/v1/approvals/${first.body.approvalId}`, undefined, mike)
  expect(own.status).toBe(404)
  const taken = await desk.gateway.call(
    'POST',
    `/v1/approvals/${first.body.approvalId}/close`,
    { outcome: 'taken' },
    mike,
  )
  expect(taken.status).toBe(404)
})

test('a harness that goes on settles what its conversation has asked', async () => {
  await using desk = await openDesk()
  const ask = async (fields: object) => (await desk.ask(fields)).body.approvalId
  const [ls, pwd] = [await ask({ input: { command: 'ls' } }), await ask({ input: { command: 'pwd' } })]
  const other = await ask({ conversationId: 'c-2', input: { command: 'ls' } })
  const settle = async (body: object) =>
    (
      await desk.gateway.call(
        'POST',
        '/v1/approvals/settle',
        { harness: 'claude', conversationId: 'c-1', ...body },
        desk.donna,
      )
    ).body
  expect(await settle({ tool: 'Bash', input: { command: 'ls' } })).toEqual({ closed: 1 })
  expect(await settle({ harness: 'codex' })).toEqual({ closed: 0 })
  const states = async () => Promise.all([ls, pwd, other].map(async (id) => (await desk.read(id)).body.state))
  expect(await states()).toEqual(['answered_there', 'open', 'open'])
  expect(await settle({ input: { command: 'pwd' } })).toMatchObject({ status: 400, field: 'tool' })
  expect(await settle({})).toEqual({ closed: 1 })
  expect(await states()).toEqual(['answered_there', 'answered_there', 'open'])
})

test('of two requests that are the same the end of a step is that of the allowed one, then of one that is open', async () => {
  await using desk = await openDesk()
  const [first, second, third] = [await desk.ask(), await desk.ask(), await desk.ask()].map(({ body }) => body)
  await desk.decide(second.approvalId, { answer: 'once', inputHash: second.inputHash })
  const settle = async () =>
    (
      await desk.gateway.call(
        'POST',
        '/v1/approvals/settle',
        { harness: 'claude', conversationId: 'c-1', tool: 'Bash', input: bash },
        desk.donna,
      )
    ).body
  const seen = async () =>
    Promise.all(
      [first, second, third].map(async ({ approvalId }) => {
        const { state, outcome } = (await desk.read(approvalId)).body
        return [state, outcome]
      }),
    )
  expect(await settle()).toEqual({ closed: 0 })
  expect(await seen()).toEqual([
    ['open', null],
    ['answered', 'taken'],
    ['open', null],
  ])
  expect(await settle()).toEqual({ closed: 1 })
  expect(await seen()).toEqual([
    ['answered_there', null],
    ['answered', 'taken'],
    ['open', null],
  ])
})

test('questions that nobody could answer are refused when they are asked', async () => {
  await using desk = await openDesk()
  const flawed = [
    { question: 'Which?', options: null },
    { question: 'Which?', options: 'abc' },
    { question: 'Which?', options: [null] },
    { question: 'Which?', options: [{ description: 'no label' }] },
    { question: 'x'.repeat(2_001) },
    { question: 'Which?', header: 7 },
  ]
  for (const question of flawed) {
    const answer = await desk.ask({ kind: 'question', tool: 'AskUserQuestion', input: { questions: [question] } })
    expect([question, answer.status]).toEqual([question, 400])
  }
})

test('each open approval of an agent can be put off, and the wait for one ends with its agent', async () => {
  await using desk = await openDesk()
  const asked = [await desk.ask(), await desk.ask(), await desk.ask()].map(({ body }) => body.approvalId)
  const until = new Date(Date.now() + 3_600_000).toISOString()
  for (const need of asked) {
    const body = { need, until }
    expect((await desk.gateway.call('POST', '/v1/needs/snooze', body, { key: desk.anna })).status).toBe(200)
  }
  const waiting = desk.read(asked[0], 30, desk.anna)
  await desk.gateway.call('DELETE', '/v1/agents/donna')
  expect((await waiting).status).toBe(404)
})

test('a name that approves is one live key: another one is refused until it is revoked', async () => {
  await using desk = await openDesk()
  const again = () => desk.gateway.call('POST', '/v1/operator-keys', { role: 'manager', label: ' Anna', approve: true })
  expect(await again()).toMatchObject({ status: 400, body: { field: 'label' } })
  const { keyId } = (await desk.gateway.call('GET', '/v1/whoami', undefined, { key: desk.anna })).body
  await desk.gateway.call('DELETE', `/v1/operator-keys/${keyId}`)
  expect((await again()).status).toBe(201)
})

test('a question takes an answer to each of its questions, and nothing else', async () => {
  await using desk = await openDesk()
  const input = {
    questions: [
      { question: 'Which?', options: [{ label: 'A' }] },
      { question: 'When?', options: [] },
    ],
  }
  const asked = await desk.ask({ kind: 'question', tool: 'AskUserQuestion', input })
  expect(asked.body.answers).toEqual(['answer', 'deny'])
  const { approvalId, inputHash } = asked.body
  for (const answers of [
    undefined,
    {},
    { 'Which?': 'A' },
    { 'Which?': 'A', 'Who?': 'B' },
    { 'Which?': 'A', 'When?': 1 },
  ]) {
    const { body } = await desk.decide(approvalId, { answer: 'answer', answers, inputHash })
    expect(body, JSON.stringify(answers)).toMatchObject({ status: 400 })
  }
  expect((await desk.decide(approvalId, { answer: 'once', inputHash })).body).toMatchObject({
    status: 400,
    field: 'answer',
  })
  const answers = { 'Which?': 'A, C', 'When?': 'Neither: ask me tomorrow.' }
  expect((await desk.decide(approvalId, { answer: 'answer', answers, inputHash })).body.decision).toMatchObject({
    answers,
  })
  for (const questions of [undefined, [], ['Which?'], [{ question: 1 }]]) {
    expect((await desk.ask({ kind: 'question', input: { questions } })).body).toMatchObject({
      status: 400,
      field: 'input',
    })
  }
})
