import fc from 'fast-check'
import { expect, test } from 'vitest'
import { totalMax, totalMaxFor } from '../../src/mailbox/limits/mail-limits.ts'

/** A window in which agents send in the given order. Says whether each was accepted, and at which total. */
function windowOf(limit: number) {
  const sent = new Map<number, number>()
  let total = 0
  const sentOf = (agent: number) => sent.get(agent) ?? 0
  const accepts = (agent: number) => total < totalMaxFor(sentOf(agent), limit)
  const send = (agent: number) => {
    if (!accepts(agent)) return false
    sent.set(agent, sentOf(agent) + 1)
    total++
    return true
  }
  return { send, accepts, sentOf, total: () => total }
}

const limits = fc.integer({ min: 1, max: 700 })
const orders = fc.array(fc.nat(20), { maxLength: 1_500 })

test('below the limit everybody sends, twice the limit is the most, and until then a newcomer is accepted', () => {
  fc.assert(
    fc.property(limits, orders, (limit, order) => {
      const window = windowOf(limit)
      for (const agent of order) {
        const before = window.total()
        const accepted = window.send(agent)
        if (before < limit) expect(accepted).toBe(true)
        expect(window.total()).toBeLessThanOrEqual(totalMax(limit))
        expect(window.accepts(999)).toBe(window.total() < totalMax(limit))
      }
    }),
  )
})

test('at the limit who has sent an eighth of it is refused, and who was refused stays refused', () => {
  fc.assert(
    fc.property(limits, orders, (limit, order) => {
      const window = windowOf(limit)
      const refused = new Set<number>()
      for (const agent of order) {
        const isBeyond = window.total() >= limit && window.sentOf(agent) >= limit / 8
        const accepted = window.send(agent)
        if (isBeyond || refused.has(agent)) expect(accepted).toBe(false)
        if (!accepted) refused.add(agent)
      }
    }),
  )
})

// The attack: agents that work together
test('agents that work together take a ninth of the rest each, whatever their order, and leave the others theirs', () => {
  fc.assert(
    fc.property(limits, fc.integer({ min: 1, max: 20 }), orders, (limit, agents, order) => {
      const window = windowOf(limit)
      for (const agent of order) window.send(agent % agents)
      for (let n = 0; n < agents; n++) while (window.send(n)) {}
      const left = totalMax(limit) - window.total()
      // The first eight are lost to rounding, at most.
      expect(left).toBeGreaterThanOrEqual(limit * (8 / 9) ** agents - 8)
    }),
  )
})
