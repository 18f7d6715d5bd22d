import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MiB } from '../../../src/limits.ts'
import { type Caller, operator } from '../../../src/registry/callers/caller.ts'
import { Shares } from '../../../src/registry/shares/shares.ts'
import {
  agentRates,
  type LimitOverrides,
  projectLimits,
  projectRateOf,
  projectRates,
} from '../../../src/share-limits.ts'
import { FakeClock } from '../../support/fake-clock.ts'

type AgentRate = keyof typeof agentRates
type Spent = Exclude<AgentRate, 'megabytesPerMinute' | 'largeMegabytesPerMinute'>

const agent = (id: string, projectId: string, limits: LimitOverrides): Caller => ({
  kind: 'agent',
  id,
  identity: `@${id}`,
  projectId,
  keyId: `key of ${id}`,
  scopes: [],
  limits,
})

const pairs = (Object.keys(agentRates) as AgentRate[]).filter(
  (name): name is Spent => projectRateOf[name] !== undefined && name !== 'megabytesPerMinute',
)

/** Does one act. True: it was not refused. */
function did(act: () => void): boolean {
  try {
    act()
    return true
  } catch {
    return false
  }
}

/** Spends until it is refused. Returns how often it was not. */
function count(act: () => void): number {
  let done = 0
  while (done < 1_000 && did(act)) done++
  return done
}

test('each rate of a project is that of a rate of an agent, ten to twenty times as high, over the same time', () => {
  const mapped = Object.values(projectRateOf).filter((name) => name !== undefined)
  expect(mapped.sort()).toEqual(Object.keys(projectRates).sort())
  for (const [own, ofProject] of Object.entries(projectRateOf)) {
    if (!ofProject) continue
    const { max, unit } = projectRates[ofProject]
    const times = max / agentRates[own as AgentRate].max
    expect([unit, times >= 10, times <= 20], ofProject).toEqual([agentRates[own as AgentRate].unit, true, true])
  }
})

test.each(pairs)('%s: two agents meet the rate of their project together, and those of another do not', (name) => {
  const shares = new Shares(new FakeClock())
  const ofProject = projectRateOf[name]
  const limits = { [ofProject]: 5 }
  const [lola, bob] = [agent('lola', 'red', limits), agent('bob', 'red', limits)]
  for (const one of [lola, bob, lola, bob, lola]) shares.spend(one, name)
  for (const one of [lola, bob]) {
    expect(() => shares.spend(one, name)).toThrow(
      expect.objectContaining({
        code: 'rate-limited',
        status: 429,
        message: expect.stringMatching(
          new RegExp(`Project red has used up ${ofProject}: 5 .*PATCH /v1/projects/\\{project\\}`),
        ),
        extra: { limit: 5, limitName: ofProject, retryAfterSeconds: expect.any(Number) },
      }),
    )
    expect(() => shares.requireLeft(one, name)).toThrow(ofProject)
  }
  shares.spend(agent('zoe', 'blue', limits), name)
  for (let n = 0; n < 10; n++) shares.spend({ ...operator, projectId: 'red', limits }, name)
  // The operator raises it, or takes it away.
  expect(count(() => shares.spend({ ...lola, limits: { [ofProject]: 8 } }, name))).toBe(3)
  shares.spend({ ...bob, limits: { [ofProject]: 0 } }, name)
})

test.each(pairs)('%s: what the agent or its project refuses counts against neither', (name) => {
  const shares = new Shares(new FakeClock())
  const ofProject = projectRateOf[name]
  const limits = { [name]: 3, [ofProject]: 5 }
  const [lola, bob] = [agent('lola', 'red', limits), agent('bob', 'red', limits)]
  expect(count(() => shares.spend(lola, name))).toBe(3)
  for (let n = 0; n < 10; n++) expect(() => shares.spend(lola, name)).toThrow(`@lola has used up ${name}`)
  expect(count(() => shares.spend(bob, name))).toBe(2)
  for (let n = 0; n < 10; n++) expect(() => shares.spend(bob, name)).toThrow(ofProject)
  expect(count(() => shares.spend({ ...bob, limits: { ...limits, [ofProject]: 0 } }, name))).toBe(1)
})

test('a request that one of its rates refuses takes nothing of the others', () => {
  const clock = new FakeClock()
  const shares = new Shares(clock)
  const limits = {
    requestsPerMinute: 4,
    projectRequestsPerMinute: 6,
    megabytesPerMinute: 2,
    projectMegabytesPerMinute: 3,
  }
  const [lola, bob] = [agent('lola', 'red', limits), agent('bob', 'red', limits)]
  const nameOf = (act: () => void) => {
    try {
      act()
    } catch (error) {
      return (error as { extra: { limitName: string } }).extra.limitName
    }
    return undefined
  }
  shares.noteBytes(lola, 2 * MiB)
  for (let n = 0; n < 9; n++) expect(nameOf(() => shares.spendRequest(lola))).toBe('megabytesPerMinute')
  shares.noteBytes(bob, 1 * MiB)
  const free = { ...limits, megabytesPerMinute: 0 }
  for (let n = 0; n < 9; n++) {
    expect(nameOf(() => shares.spendRequest({ ...lola, limits: free }))).toBe('projectMegabytesPerMinute')
  }
  const unweighed = { ...free, projectMegabytesPerMinute: 0 }
  expect(count(() => shares.spendRequest({ ...lola, limits: unweighed }))).toBe(4)
  expect(count(() => shares.spendRequest({ ...bob, limits: unweighed }))).toBe(2)
  expect(nameOf(() => shares.spendRequest({ ...bob, limits: unweighed }))).toBe('projectRequestsPerMinute')
  expect(nameOf(() => shares.spendFurther({ ...bob, limits: unweighed }, 1))).toBe('projectRequestsPerMinute')
  expect(count(() => shares.spendFurther({ ...bob, limits: { ...unweighed, projectRequestsPerMinute: 0 } }, 1))).toBe(2)
})

test('what two agents of a project move is counted together; another project, and operators, have theirs', () => {
  const clock = new FakeClock()
  const shares = new Shares(clock)
  const limits = { projectMegabytesPerMinute: 10 }
  const [lola, bob, zoe] = [agent('lola', 'red', limits), agent('bob', 'red', limits), agent('zoe', 'blue', limits)]
  shares.noteBytes({ ...operator, projectId: 'red', limits }, 100 * MiB)
  shares.noteBytes(lola, 6 * MiB)
  shares.spendRequest(bob)
  shares.noteBytes(bob, 7 * MiB)
  for (const one of [lola, bob]) {
    expect(() => shares.spendRequest(one)).toThrow(
      /Project red has used up projectMegabytesPerMinute: 10 a minute.*Wait 18 s/,
    )
  }
  shares.spendRequest(zoe)
  shares.spendRequest({ ...lola, limits: { projectMegabytesPerMinute: 14 } })
  clock.advance(19_000)
  shares.spendRequest(lola)
})

test('revocations, which count for each key, are neither refused by the rate of the project nor counted', () => {
  const shares = new Shares(new FakeClock())
  const limits = { projectChangesPerDay: 2 }
  const lola = agent('lola', 'red', limits)
  for (let n = 0; n < 5; n++) shares.charge(lola, 'changesPerDay', lola.keyId)
  shares.requireLeft(lola, 'changesPerDay')
  shares.charge(lola, 'changesPerDay', lola.id, 2)
  expect(() => shares.requireLeft(lola, 'changesPerDay')).toThrow('projectChangesPerDay')
  shares.requireLeft(lola, 'changesPerDay', lola.keyId)
})

test('whatever agents of two projects do, an act passes exactly where its agent and its project have room', () => {
  const acts = fc.array(
    fc.record({ who: fc.nat(3), name: fc.constantFrom(...pairs), count: fc.integer({ min: 1, max: 3 }) }),
    { maxLength: 80 },
  )
  const limit = fc.integer({ min: 0, max: 8 })
  const limitsOf = fc.record(
    Object.fromEntries(
      pairs.flatMap((name) => [
        [name, limit],
        [projectRateOf[name], limit],
      ]),
    ),
  )
  fc.assert(
    fc.property(acts, limitsOf, (done, drawn) => {
      const limits = drawn as Required<LimitOverrides>
      const agents = ['lola', 'bob', 'zoe', 'ada'].map((id, n) => agent(id, n < 2 ? 'red' : 'blue', limits))
      const shares = new Shares(new FakeClock())
      const used = new Map<string, number>()
      const room = (key: string, max: number, wanted: number) =>
        max === 0 || (used.get(key) ?? 0) + Math.min(wanted, max) <= max
      for (const { who, name, count: wanted } of done) {
        const caller = agents[who]!
        const counts = [
          [`${name} ${caller.id}`, limits[name]],
          [`${name} ${caller.projectId}`, limits[projectRateOf[name]]],
        ] as const
        const isFree = counts.every(([key, max]) => room(key, max, wanted))
        expect(did(() => shares.spend(caller, name, wanted))).toBe(isFree)
        if (!isFree) continue
        for (const [key, max] of counts) used.set(key, (used.get(key) ?? 0) + Math.min(wanted, max))
      }
    }),
  )
})

test('a project whose limits were set before it had these has the defaults', () => {
  const shares = new Shares(new FakeClock())
  const lola = agent('lola', 'red', { testsPerMinute: 0 })
  const { max } = projectLimits.projectTestsPerMinute
  for (let n = 0; n < max; n++) shares.spend(lola, 'testsPerMinute')
  expect(() => shares.spend(lola, 'testsPerMinute')).toThrow(`projectTestsPerMinute: ${max}`)
})
