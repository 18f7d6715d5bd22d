import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hourMs } from '../../src/recovery/facts.ts'
import { minute } from './facts.ts'
import { Simulation } from './simulation.ts'

const states = ['unknown', 'idle', 'active', 'waitingOnApproval', 'userTyping'] as const
const happening = fc.oneof(
  fc.record({ what: fc.constant('pass' as const), minutes: fc.integer({ min: 1, max: 90 }) }),
  fc.record({ what: fc.constant('report' as const), state: fc.constantFrom(...states) }),
  fc.record({ what: fc.constant('end' as const), reason: fc.constantFrom('ended', 'closed', 'timeout') }),
  fc.record({ what: fc.constantFrom('mail', 'read', 'act', 'start', 'gateway', 'bridge') }),
  fc.record({ what: fc.constantFrom('sleep', 'park'), minutes: fc.integer({ min: 1, max: 600 }) }),
  fc.record({ what: fc.constant('gate' as const), state: fc.constantFrom('enabled', 'disabled') }),
)
type Happening = typeof happening extends fc.Arbitrary<infer H> ? H : never

function play(world: Simulation, one: Happening): void {
  if (one.what === 'pass') world.pass(one.minutes * minute)
  else if (one.what === 'report') void (world.session && world.report(one.state))
  else if (one.what === 'end') world.end(one.reason as 'ended')
  else if (one.what === 'gate')
    world.gate = { ...world.gate, nudges: one.state, restarts: one.state } as typeof world.gate
  else if (one.what === 'sleep' && 'minutes' in one) world.sleep(one.minutes * minute)
  else if (one.what === 'park' && 'minutes' in one) world.park(one.minutes * minute)
  else if (one.what === 'gateway') world.gatewayRestarts()
  else if (one.what === 'bridge') world.bridge()
  else if (one.what === 'mail') world.mail()
  else if (one.what === 'read') world.read()
  else if (one.what === 'act') world.act()
  else if (one.what === 'start') world.start()
}

/** True when a look has just done something. */
const actsIn = (did: readonly string[]): string[] => did.filter((one) => one === 'nudge' || one === 'restart')

// S3-4, S3-5, S3-9, S3-10, D50
test('in any history no two acts are in flight, and none is against the gate, a park, a turn, or the bounds', () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 60 }), (happenings) => {
      const world = new Simulation()
      const look = world.look.bind(world)
      const at: { mode: string; at: number }[] = []
      const reasons = new Set<string>()
      world.look = () => {
        const before = actsIn(world.did).length
        const { session, gate, recovery } = world
        look()
        const [done] = actsIn(world.did).slice(before)
        if (done === undefined) return
        expect(gate[done === 'nudge' ? 'nudges' : 'restarts']).toBe('enabled')
        expect(recovery.parked && recovery.parked.until > world.now).toBeFalsy()
        expect(done === 'nudge').toBe(session !== null)
        expect(session?.presenceAt === world.now && session.state === 'active').toBe(false)
        expect(world.former?.endReason === 'closed' && done === 'restart').toBe(false)
        // The same mode for the same reason at most once.
        const reason = `${done} ${world.recovery.actedFor}`
        expect(reasons.has(reason)).toBe(false)
        reasons.add(reason)
        at.push({ mode: done, at: world.now })
        const within = at.filter((one) => one.mode === done && one.at > world.now - hourMs).length
        expect(within).toBeLessThanOrEqual(done === 'nudge' ? 6 : 3)
      }
      for (const one of happenings) play(world, one)
      expect(world.inFlightMax).toBeLessThanOrEqual(1)
    }),
    { numRuns: 500 },
  )
})
