import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
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
