import { expect, test } from 'vitest'
import { companyLimits } from '../../src/gateway-limits.ts'
import type { Caller } from '../../src/registry/callers/caller.ts'
import { newBulk } from '../../src/registry/shares/large-spacing.ts'
import { Pace } from '../../src/registry/shares/pace.ts'
import { Shares } from '../../src/registry/shares/shares.ts'
import { agentNumbers } from '../../src/share-limits.ts'
import { FakeClock } from '../support/fake-clock.ts'

const { max: inASecond } = companyLimits.paced
const atOnce = inASecond * companyLimits.pacedAtOnce.max
const agent = (id: string, requestsPerMinute?: number): Caller => ({
  kind: 'agent',
  id,
  identity: `@${id}`,
  projectId: 'default',
  keyId: `key of ${id}`,
  scopes: [],
  limits: requestsPerMinute === undefined ? {} : { requestsPerMinute },
})

/** Callers whose requests are over as soon as they have begun. */
class Callers {
  readonly clock = new FakeClock()
  readonly shares = new Shares(this.clock, new Pace(this.clock))
  begun = 0

  /** Others are active for the next second. */
  accompany(): void {
    const leave = this.shares.enter(agent('bob'))
    if (typeof leave === 'function') leave()
  }

  ask(caller: Caller, count: number, gone = new AbortController().signal): void {
    for (let asked = 0; asked < count; asked++) {
      const entering = this.shares.enter(caller, newBulk({ what: undefined, bytes: 0, gone: () => gone }))
      void Promise.resolve(entering).then((leave) => {
        this.begun++
        leave()
      })
    }
  }

  /** Passes time, and all that happens meanwhile. */
  async pass(ms: number): Promise<number> {
    for (let passed = 0; passed < ms; passed += 10) {
      this.clock.advance(10)
      await iterations(5)
    }
    return this.begun
  }
}

/** Enough for all who need not wait for the time: the queue lets one begin in each. */
async function iterations(count = 500): Promise<void> {
  for (let done = 0; done < count; done++) await new Promise(setImmediate)
}

test('beside others, an agent begins twenty requests at once and a hundred a second; none is refused', async () => {
  const callers = new Callers()
  callers.accompany()
  callers.ask(agent('mallory'), atOnce)
  await iterations()
  expect(callers.begun).toBe(atOnce)
  callers.ask(agent('mallory'), 300)
  await iterations()
  expect(callers.begun).toBe(atOnce)
  expect(await callers.pass(1_000)).toBeGreaterThanOrEqual(atOnce + inASecond - 1)
  expect(callers.begun).toBeLessThanOrEqual(atOnce + inASecond + 1)
  expect(await callers.pass(2_100)).toBe(atOnce + 300)
})

test('as many as may wait in line wait for their turn, evenly spaced to the last one', async () => {
  const callers = new Callers()
  callers.accompany()
  callers.ask(agent('mallory'), agentNumbers.requestsInLine.max)
  await iterations()
  const before = await callers.pass(4_000)
  expect(before).toBeLessThanOrEqual(atOnce + 4 * inASecond + 1)
  expect(await callers.pass(1_500)).toBe(agentNumbers.requestsInLine.max)
})

test('an agent that is alone, and one without a rate, wait for nothing', async () => {
  const callers = new Callers()
  callers.ask(agent('mallory'), 400)
  await iterations()
  expect(callers.begun).toBe(400)
  callers.accompany()
  callers.ask(agent('carol', 0), 400)
  await iterations()
  expect(callers.begun).toBe(800)
})

test('beside others, a change counts as three requests; alone, it counts as any', async () => {
  const callers = new Callers()
  const changes = (count: number): void => {
    for (let made = 0; made < count; made++) callers.shares.paceChange(agent('mallory'))
  }
  changes(100)
  callers.accompany()
  callers.ask(agent('mallory'), atOnce)
  await iterations()
  expect(callers.begun).toBe(atOnce)
  // What those have cost beyond one is owed.
  changes(atOnce)
  callers.ask(agent('mallory'), 100)
  const owedMs = (1_000 * atOnce * (companyLimits.changeCost.max - 1)) / inASecond
  expect(await callers.pass(owedMs - 20)).toBe(atOnce)
  expect(await callers.pass(500)).toBeGreaterThanOrEqual(atOnce + 48)
})

test('where the operator raises the rate, more begin', async () => {
  const callers = new Callers()
  callers.accompany()
  callers.ask(agent('mallory', 18_000), 400)
  await iterations()
  expect(callers.begun).toBe(60)
})

test('others do not wait for an agent that has to; a request whose client goes away frees its place at once', async () => {
  const callers = new Callers()
  callers.accompany()
  const gone = new AbortController()
  callers.ask(agent('mallory'), atOnce + 50, gone.signal)
  await iterations()
  expect(callers.begun).toBe(atOnce)
  callers.ask(agent('donna'), 5)
  await iterations()
  expect(callers.begun).toBe(atOnce + 5)
  gone.abort()
  await iterations()
  expect(callers.begun).toBe(atOnce + 55)
})
