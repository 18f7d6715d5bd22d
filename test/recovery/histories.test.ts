import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hourMs } from '../../src/turns/facts.ts'
import { minute } from './facts.ts'
import { type Fault, mutantOf } from './mutants.ts'
import { type Engine, Simulation } from './simulation.ts'

const states = ['unknown', 'idle', 'active', 'waitingOnApproval', 'userTyping'] as const
const quarter = fc.integer({ min: 1, max: 16 })
/** Each thing that may happen, the likelier the more often: most histories lead to an act. */
const happening = fc.oneof(
  { weight: 5, arbitrary: fc.record({ what: fc.constant('silent' as const), minutes: quarter }) },
  {
    weight: 3,
    arbitrary: fc.record({
      what: fc.constant('gone' as const),
      reason: fc.constantFrom('ended', 'ended', 'closed', 'timeout'),
      minutes: quarter,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ what: fc.constant('boots' as const), gateway: fc.boolean(), reads: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ what: fc.constantFrom('once', 'killed', 'night'), minutes: quarter }) },
  {
    weight: 2,
    arbitrary: fc.record({
      what: fc.constant('report' as const),
      state: fc.constantFrom(...states),
      hasTurn: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ what: fc.constantFrom('works', 'crashes'), times: fc.integer({ min: 1, max: 6 }) }),
  },
  fc.record({ what: fc.constantFrom('mail', 'read', 'act', 'gateway', 'bridge', 'route') }),
  fc.record({ what: fc.constantFrom('sleep', 'park'), minutes: fc.integer({ min: 1, max: 90 }) }),
  fc.record({ what: fc.constant('gate' as const), state: fc.constantFrom('enabled', 'enabled', 'disabled') }),
)
type Happening = typeof happening extends fc.Arbitrary<infer H> ? H : never

function play(world: Simulation, one: Happening): void {
  const ms = 'minutes' in one ? one.minutes * minute : 0
  if (one.what === 'sleep' || one.what === 'park') {
    world[one.what](ms)
    return
  }
  if (one.what === 'silent') world.mail()
  else if (one.what === 'gone') {
    world.end(one.reason as 'ended')
    world.mail()
  } else if (one.what === 'boots') {
    world.now += 1_000
    world.start()
    if (one.gateway) world.gatewayRestarts()
    world.pass(minute)
    if (one.reads) world.read()
    else world.act()
  } else if (one.what === 'works' || one.what === 'crashes') {
    // A harness that runs once for each restart, and one that ends before it has read anything.
    world.end('ended')
    for (let n = 0; n < one.times; n++) {
      if (n === 0 || one.what === 'works') world.mail()
      world.pass(12 * minute)
      if (one.what === 'works') world.runOnce()
      else {
        world.start()
        world.act()
        world.end('ended')
      }
    }
  } else if (one.what === 'once') world.runOnce()
  else if (one.what === 'killed') world.kill()
  else if (one.what === 'report') void (world.session && world.report(one.state, one.hasTurn ? 'turn_1' : null))
  else if (one.what === 'gate')
    world.gate = { ...world.gate, nudges: one.state, restarts: one.state } as typeof world.gate
  else if (one.what === 'gateway') world.gatewayRestarts()
  else if (one.what === 'route') world.route = world.route ? null : new Simulation().route
  else if (one.what === 'bridge') world.bridge()
  else if (one.what === 'mail') world.mail()
  else if (one.what === 'read') world.read()
  else if (one.what === 'act') world.act()
  world.pass(ms)
}

/** What the world knows beside the checker. */
interface Watched {
  /** Each session: when it began, and when it last acted; 0: it has not. */
  readonly lives: Map<string, { bornAt: number; actedAt: number }>
  readonly acts: { readonly mode: string; readonly at: number; readonly sessionId: string | null }[]
  readonly reasons: Set<string>
  /** The last act led to nothing, and nothing has acted since. */
  isLost: boolean
}

const lastActedAt = ({ lives }: Watched): number => Math.max(0, ...[...lives.values()].map(({ actedAt }) => actedAt))

function note(world: Simulation, watched: Watched): void {
  for (const one of [world.session, ...world.ended]) {
    if (one) watched.lives.set(one.id, { bornAt: one.createdAt, actedAt: one.actedAt })
  }
}

/** What has to hold when the checker has looked once. */
function check(world: Simulation, watched: Watched, before: Simulation, did: readonly string[]): void {
  const { now } = world
  note(world, watched)
  const last = watched.acts.at(-1)
  for (const one of did) {
    if (one === 'abandoned') {
      // An act that has led to something is never booked as abandoned.
      const after = [...watched.lives.values()].filter(({ bornAt, actedAt }) =>
        last!.mode === 'restart' ? bornAt > last!.at && actedAt >= bornAt : actedAt > last!.at,
      )
      expect(after).toEqual([])
      // Nor is one into a session that has ended meanwhile.
      if (last!.mode === 'nudge' && last!.sessionId !== null) expect(before.session?.id).toBe(last!.sessionId)
      watched.isLost = true
    }
    if (one === 'cleared') watched.isLost = false
    if (one === 'trip') expect(before.recovery.abandoned >= 3 || isLooping(watched, before, now)).toBe(true)
    if (one !== 'nudge' && one !== 'restart' && one !== 'pulse') continue
    const { session, former, gate, recovery } = before
    expect(gate[one === 'restart' ? 'restarts' : 'nudges']).toBe('enabled')
    expect(recovery.parked && recovery.parked.until > now).toBeFalsy()
    const saying = session ?? (former?.endReason === 'timeout' ? former : undefined)
    expect(['waitingOnApproval', 'userTyping']).not.toContain(saying?.state)
    if (session?.state === 'active') {
      expect(now - session.presenceAt!).toBeGreaterThan(session.activeTurnId === null ? 0 : hourMs - minute)
    }
    if (session === null) expect(former?.endReason).not.toBe('closed')
    if (one === 'pulse') continue
    if (one === 'restart') expect(session).toBe(null)
    if (one === 'nudge') expect(now - (before.wokenAt ?? 0)).toBeGreaterThanOrEqual(10 * minute)
    // Another message buys no act.
    if (watched.isLost) expect(lastActedAt(watched)).toBeGreaterThan(last!.at)
    // The same mode for the same reason at most once, of a nudge in each session: a harness that was started in between may be reminded.
    const reason = `${one} ${world.recovery.actedFor} ${session?.id ?? ''}`
    expect(watched.reasons.has(reason)).toBe(false)
    watched.reasons.add(reason)
    watched.acts.push({ mode: one, at: now, sessionId: session?.id ?? null })
    const within = watched.acts.filter(({ mode, at }) => mode === one && at > now - hourMs).length
    expect(within).toBeLessThanOrEqual(one === 'nudge' ? 6 : 3)
  }
}

function isLooping({ acts }: Watched, { reason }: Simulation, now: number): boolean {
  const restarts = acts.filter(({ mode, at }) => mode === 'restart' && at > now - hourMs)
  return restarts.length >= 3 && reason!.oldestAt < restarts[0]!.at
}

function holds(engine: Engine | undefined, options: fc.Parameters<unknown>): void {
  fc.assert(
    fc.property(fc.boolean(), fc.array(happening, { maxLength: 40 }), (isBridged, happenings) => {
      const world = new Simulation(engine)
      if (isBridged) world.bridge()
      world.start()
      world.act()
      const watched: Watched = { lives: new Map(), acts: [], reasons: new Set(), isLost: false }
      const look = world.look.bind(world)
      world.look = () => {
        const before = Object.assign(Object.create(Simulation.prototype), world) as Simulation
        const count = world.did.length
        look()
        check(world, watched, before, world.did.slice(count))
      }
      for (const one of happenings) {
        play(world, one)
        note(world, watched)
      }
      expect(world.inFlightMax).toBeLessThanOrEqual(1)
    }),
    options as fc.Parameters<[boolean, Happening[]]>,
  )
}

// S3-4, S3-5, S3-9, S3-10, D50, D53
test('in any history no act is against a rule, an act that worked is never abandoned, and no message buys one', () => {
  holds(undefined, { numRuns: 1_000 })
})

const rules = 'turns/rules-of-recovery.ts'
const never = 'when: () => false'
const faults: Record<string, Fault> = {
  'a nudge past a closed gate': [rules, "when: ({ gate }) => gate.nudges === 'disabled'", never],
  'a restart past a closed gate': [rules, "when: ({ gate }) => gate.restarts === 'disabled'", never],
  'an act during a park': ['turns/may-start.ts', 'when: ({ recovery, now }) => isParked(recovery, now)', never],
  'two acts at a time': [rules, 'when: ({ recovery }) => recovery.inFlight !== null', never],
  'an act into an approval': [rules, "when: (facts) => stateOf(facts) === 'waitingOnApproval'", never],
  'an approval that is forgotten with its session': [
    'turns/conditions.ts',
    "session ?? (former?.endReason === 'timeout' ? former : undefined)",
    'session',
  ],
  'an act into a draft': [rules, "when: (facts) => stateOf(facts) === 'userTyping'", never],
  'an open turn that counts for two minutes': ['turns/conditions.ts', 'if (isInTurn &&', 'if (false && isInTurn &&'],
  'a nudge after a wake': [
    rules,
    'when: (facts) => facts.wokenAt !== null && facts.now - facts.wokenAt < staleMs(facts)',
    never,
  ],
  'a message that buys an act': [
    rules,
    'when: (facts) => facts.recovery.abandoned > 0 && lastLifeAt(facts) <= lastActOf(facts.recovery)',
    never,
  ],
  'an order whose instant moves': [
    'recovery/step.ts',
    'inFlight: { ...recovery.inFlight, deadlineAt: deadlineOf(facts) }',
    'inFlight: { ...recovery.inFlight, since: now, deadlineAt: deadlineOf(facts) }',
  ],
  'a success that is looked for in the live session only': [
    'recovery/decide.ts',
    '[session, former, ...earlier].some(',
    '[session].some(',
  ],
  'a nudge into a session that has ended': [
    'recovery/decide.ts',
    "if (mode === 'nudge' && sessionId !== null && session?.id !== sessionId) return 'over'",
    '',
  ],
  'a closed session that is opened again': [
    rules,
    "when: ({ session, former }) => session === null && former!.endReason === 'closed'",
    never,
  ],
  'restarts without a bound': [rules, "when: (facts) => isSpent(facts, 'restart')", never],
  'a gate that trips for work that is done': [
    'turns/conditions.ts',
    'first !== undefined && facts.reason!.oldestAt < first.at',
    'first !== undefined',
  ],
}

describe('the histories find', () => {
  test.each(Object.entries(faults))('%s', async (_, fault) => {
    const engine = await mutantOf(fault)
    expect(() => holds(engine, { numRuns: 5_000, endOnFailure: true, seed: 1 })).toThrow()
  })
})
