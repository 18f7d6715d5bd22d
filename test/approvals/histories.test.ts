import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ApprovalState, approvalStates } from '../../src/approvals/approval.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { liftRates } from '../support/gateway.ts'
import { type Desk, hashOf, openDesk, request } from './desk.ts'

const lifeMs = 60_000
const input = fc.constantFrom({ command: 'a' }, { command: 'b' })
const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ act: fc.constant('ask' as const), input }) },
  {
    weight: 3,
    arbitrary: fc.record({
      act: fc.constant('decide' as const),
      answer: fc.constantFrom('once', 'deny', 'answer'),
      shown: input,
      conversationId: fc.constantFrom('c-1', 'c-1', 'c-1', 'c-2'),
    }),
  },
  fc.record({ act: fc.constant('close' as const), state: fc.constantFrom('withdrawn', 'answered_there') }),
  fc.record({ act: fc.constant('outcome' as const), outcome: fc.constantFrom('taken', 'late') }),
  fc.record({ act: fc.constant('settle' as const), input, conversationId: fc.constantFrom('c-1', 'c-2') }),
  fc.record({ act: fc.constant('wait' as const), ms: fc.constantFrom(1, lifeMs / 2, lifeMs) }),
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

interface Model {
  id?: string
  input?: object
  state: ApprovalState
  answer?: string
  outcome: string | null
  expiresAt: number
}

// The wire against the rule in a few lines.
test('for any calls in any order an approval is as the rule says, and what is closed stays as it is', async () => {
  const clock = new FakeClock()
  await using desk = await openDesk({ overrides: { clock } })
  await liftRates(desk.gateway)
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
      const nonce = crypto.randomUUID()
      const model: Model = { state: 'open', outcome: null, expiresAt: 0 }
      for (const next of steps) {
        if (next.act === 'wait') {
          await clock.advance(next.ms)
        } else {
          const expected = apply(model, next, clock.now())
          const answer = await play(desk, model, nonce, next)
          if (answer) expect([next, answer.status], JSON.stringify(answer.body)).toEqual([next, expected])
          if (answer && next.act === 'ask' && expected === 201) model.id = answer.body.approvalId
        }
        if (model.id === undefined) continue
        const { body } = await desk.read(model.id)
        const { state, outcome } = body
        expect({ next, state, outcome }).toEqual({ next, state: now(model, clock.now()), outcome: model.outcome })
        expect(body.decision === null).toBe(state !== 'answered')
      }
    }),
    { numRuns: 40 },
  )
})

/** The state of the model at an instant. */
const now = ({ state, expiresAt }: Model, at: number): ApprovalState =>
  state === 'open' && expiresAt <= at ? 'expired' : state

async function play(desk: Desk, { id }: Model, nonce: string, next: Exclude<Step, { act: 'wait' }>) {
  if (next.act === 'ask') return desk.ask({ nonce, tool: nonce, input: next.input, expiresInSeconds: lifeMs / 1000 })
  if (next.act === 'settle') {
    const { act: _, ...rest } = next
    const body = { ...rest, harness: 'claude', tool: nonce }
    const { status } = await desk.gateway.call('POST', '/v1/approvals/settle', body, desk.donna)
    expect(status).toBe(200)
    return undefined
  }
  if (id === undefined) return undefined
  if (next.act === 'close') return desk.close(id, { state: next.state })
  if (next.act === 'outcome') return desk.close(id, { outcome: next.outcome })
  const { answer, shown, conversationId } = next
  return desk.decide(id, { answer, inputHash: hashOf(request({ tool: nonce, input: shown, conversationId })) })
}

/** Applies a step to the model. Returns the expected status. */
function apply(model: Model, next: Exclude<Step, { act: 'wait' }>, at: number): number {
  if (next.act === 'ask') {
    if (model.input) return same(model.input, next.input) ? 200 : 409
    Object.assign(model, { input: next.input, expiresAt: at + lifeMs })
    return 201
  }
  if (!model.input) return 0
  const state = now(model, at)
  const to = (closed: ApprovalState): number => {
    expect(approvalStates.open).toContain(closed)
    model.state = closed
    return 200
  }
  switch (next.act) {
    case 'decide':
      if (state !== 'open' || !same(model.input, next.shown) || next.conversationId !== 'c-1') return 409
      if (next.answer === 'answer') return 400
      model.answer = next.answer
      return to('answered')
    case 'close':
      // A harness may say how it ended, after its time too.
      if (model.state === next.state) return 200
      return state === 'open' ? to(next.state as ApprovalState) : 409
    case 'outcome':
      if (model.outcome === next.outcome) return 200
      if (state === 'open') return 400
      if (state !== 'answered' || model.outcome !== null) return 409
      model.outcome = next.outcome
      return 200
    case 'settle':
      if (next.conversationId !== 'c-1' || !same(model.input, next.input)) return 200
      if (state === 'open') to('answered_there')
      if (state === 'answered' && model.answer === 'once') model.outcome ??= 'taken'
      return 200
  }
}

const same = (one: object, other: object): boolean => JSON.stringify(one) === JSON.stringify(other)

test('an open approval may end in each way, and no other state has a way out', () => {
  const { open, ...closed } = approvalStates
  expect([...open].sort()).toEqual(Object.keys(closed).sort())
  expect(Object.values(closed).flat()).toEqual([])
})
