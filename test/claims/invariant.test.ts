import fc from 'fast-check'
import { expect, test } from 'vitest'
import { silenceMs } from '../../src/claims/claim.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'

const handles = ['donna', 'mike', 'lola'] as const
const step = fc.oneof(
  fc.record({ act: fc.constant('claim' as const), who: fc.constantFrom(...handles) }),
  fc.record({ act: fc.constant('release' as const), who: fc.constantFrom(...handles) }),
  fc.record({
    act: fc.constant('handoff' as const),
    who: fc.constantFrom(...handles),
    to: fc.constantFrom(...handles),
  }),
  fc.record({ act: fc.constant('wait' as const), ms: fc.constantFrom(1, silenceMs / 2, silenceMs) }),
)

interface Model {
  owner: string | undefined
  seenAt: number
}

// S4-7, S4-8: the wire against the rule in a few lines
test('for any calls in any order there is one owner, and it is the one that the rule names', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  const keys = new Map<string, { key: string }>()
  for (const handle of handles) keys.set(handle, await gateway.addAgent(handle))
  let runs = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const ref = `ref-${runs++}`
      const model: Model = { owner: undefined, seenAt: 0 }
      for (const next of steps) {
        if (next.act === 'wait') {
          clock.advance(next.ms)
          continue
        }
        const { who } = next
        const expected = apply(model, next, clock.now())
        const to = next.act === 'handoff' ? next.to : undefined
        const path = next.act === 'handoff' ? '/v1/claims/handoff' : '/v1/claims'
        const method = next.act === 'release' ? 'DELETE' : 'POST'
        const { status } = await gateway.call(method, path, { ref, to }, keys.get(who))
        expect([next, status]).toEqual([next, expected])
        const { claims } = (await gateway.call('GET', `/v1/claims?ref=${ref}`)).body
        expect(claims.map(({ owner }: { owner: string }) => owner)).toEqual(model.owner ? [`@${model.owner}`] : [])
      }
    }),
    { numRuns: 40 },
  )
})

/** Applies a step to the model. Returns the expected status. */
function apply(model: Model, next: { act: string; who: string; to?: string }, now: number): number {
  const { act, who, to } = next
  const stale = model.owner !== undefined && now - model.seenAt >= silenceMs
  const take = (owner: string | undefined) => Object.assign(model, { owner, seenAt: now })
  if (act === 'claim') {
    if (model.owner !== undefined && model.owner !== who && !stale) return 409
    const status = model.owner === who ? 200 : 201
    take(who)
    return status
  }
  if (model.owner === undefined) return 404
  if (act === 'release') {
    if (model.owner !== who && !stale) return 409
    take(undefined)
    return 204
  }
  if (model.owner !== who) return 409
  if (to === who) return 400
  take(to)
  return 200
}
