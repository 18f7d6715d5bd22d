import fc from 'fast-check'
import { expect, test } from 'vitest'
import { operator } from '../../src/registry/callers/caller.ts'
import { findSubscription } from '../../src/registry/subscriptions/subscription-store.ts'
import { resyncSubscription } from '../../src/subscriptions/resync.ts'
import { updateSubscription } from '../../src/subscriptions/update.ts'
import type { DeliveryOrder, DeliveryResult } from '../../src/wakes/channel.ts'
import { runSubscription } from '../../src/wakes/run/run-subscription.ts'
import { leaseDue, nextDueAt, requeueAll } from '../../src/wakes/store/lease-store.ts'
import { arrived, type Engine, openEngine } from './engine.ts'

type Answer = 'delivered' | 'failed' | 'rejected' | 'crash'
type Step =
  | { do: 'append'; priority: 'high' | 'low' }
  | { do: 'run'; answers: Answer[] }
  | { do: 'resync'; back: number }
  | { do: 'activate' }
  | { do: 'rotate' }

interface Received {
  eventId: string
  logIds: number[]
  logId: number
  prevLogId: number | null
  generation: number
}

const id = 'WAKE_SUB:1'
const answer = fc.constantFrom<Answer>('delivered', 'delivered', 'delivered', 'failed', 'rejected', 'crash')
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('append' as const), priority: fc.constantFrom('high', 'low') }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('run' as const), answers: fc.array(answer, { maxLength: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('resync' as const), back: fc.nat(6) }) },
  { weight: 2, arbitrary: fc.constant({ do: 'activate' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'rotate' as const }) },
) as fc.Arbitrary<Step>
const mode = fc.constantFrom(
  { coalesceMs: 0 },
  { coalesceMs: 10_000, target: { url: 'http://127.0.0.1:9/', coalesceMode: 'window' as const } },
  { coalesceMs: 10_000 },
)

/** The guarantees for a receiver, in any order of events, failures, crashes and changes. */
class World {
  readonly wanted = new Set<number>()
  readonly settled = new Set<number>()
  readonly ranges = new Map<string, string>()
  readonly received: Received[] = []
  answers: Answer[] = []
  prev: number | null = null
  /** The failures in a row: what the receiver had before them, and what failed. A recovery begins there. */
  failing: { prev: number | null; logIds: number[] } | undefined
  crash = () => {}
  head = 0

  deliver = async (order: DeliveryOrder): Promise<DeliveryResult> => {
    const wake = readWake(order)
    this.check(wake)
    this.received.push(wake)
    const outcome = this.answers.shift() ?? 'delivered'
    if (outcome === 'crash') {
      this.crash()
      return new Promise(() => {})
    }
    if (outcome === 'delivered') this.failing = undefined
    if (outcome === 'failed') {
      this.failing ??= { prev: this.prev, logIds: [] }
      this.failing.logIds.push(...wake.logIds)
    }
    if (outcome !== 'rejected') {
      this.prev = wake.logId
      for (const logId of wake.logIds) this.settled.add(logId)
    }
    return { ...arrived, outcome, reason: outcome }
  }

  recover(): void {
    if (!this.failing) return
    this.prev = this.failing.prev
    for (const logId of this.failing.logIds) this.settled.delete(logId)
    this.failing = undefined
  }

  private check(wake: Received): void {
    const range = JSON.stringify(wake.logIds)
    expect(this.ranges.get(wake.eventId) ?? range).toBe(range)
    this.ranges.set(wake.eventId, range)
    expect(wake.prevLogId).toBe(this.prev)
    for (const logId of wake.logIds) expect(this.wanted).toContain(logId)
    // Nothing between the last wake and this one is left out.
    const between = [...this.wanted].filter((logId) => logId > (wake.prevLogId ?? 0) && logId <= wake.logId)
    expect(wake.logIds).toEqual(between)
    const before = this.received.findLast(({ generation }) => generation === wake.generation)
    if (before) expect(wake.logId).toBeGreaterThanOrEqual(before.logId)
  }
}

function readWake({ emission, subscription }: DeliveryOrder): Received {
  const { eventId, logId, prevLogId, payload } = emission
  const refs = payload.refs as { logId: number }[] | undefined
  return {
    eventId,
    logId,
    prevLogId,
    logIds: refs?.map((ref) => ref.logId) ?? [logId],
    generation: subscription.generation,
  }
}

async function run(engine: Engine, world: World, answers: Answer[]): Promise<void> {
  engine.clock.advance(10_000)
  world.answers = [...answers]
  for (const subscription of await leaseDue(engine.db, crypto.randomUUID(), 10)) {
    let crashed = false
    const crash = new Promise<void>((resolve) => {
      world.crash = () => {
        crashed = true
        resolve()
      }
    })
    const control = { signal: new AbortController().signal, countRuns: () => 1, setWaiting: () => {} }
    await Promise.race([
      runSubscription(engine.context, subscription, subscription.leaseOwner as string, control),
      crash,
    ])
    if (crashed) await requeueAll(engine.db)
  }
}

async function take(engine: Engine, world: World, step: Step): Promise<void> {
  const { status } = (await findSubscription(engine.db, id))!
  if (step.do === 'append') {
    world.head = await engine.append(step.priority)
    if (step.priority === 'high') world.wanted.add(world.head)
  }
  if (step.do === 'run') await run(engine, world, step.answers)
  if (step.do === 'rotate') await updateSubscription(engine.subscriptions, operator, id, { rotateSigningKey: true })
  if (step.do === 'activate' && status !== 'active') {
    await updateSubscription(engine.subscriptions, operator, id, { status: 'active' })
    world.recover()
  }
  if (step.do === 'resync' && status === 'active') {
    const since = Math.max(0, world.head - step.back)
    await resyncSubscription(engine.subscriptions, operator, id, since)
    world.prev = since || null
    world.failing = undefined
    for (const logId of world.wanted) {
      if (logId > since) world.settled.delete(logId)
      else world.settled.add(logId)
    }
  }
}

async function drain(engine: Engine, world: World): Promise<void> {
  for (let round = 0; round < 20; round++) {
    await take(engine, world, { do: 'activate' })
    await run(engine, world, [])
    if ((await nextDueAt(engine.db, 'any', engine.clock.now())) === undefined) return
  }
  throw new Error('It never comes to rest.')
}

// S1-29, S1-31, S1-34, D15, D30
test('for any events, no event is left out, the order is kept, and every gap is visible in prevLogId', async () => {
  await fc.assert(
    fc.asyncProperty(mode, fc.array(step, { maxLength: 25 }), async (fields, steps) => {
      const world = new World()
      await using engine = await openEngine(world.deliver)
      await engine.add([{ id, filters: { priority: 'high' }, ...fields }])
      for (const one of steps) await take(engine, world, one)
      await drain(engine, world)
      expect([...world.wanted].filter((logId) => !world.settled.has(logId))).toEqual([])
    }),
    { numRuns: 100 },
  )
})
