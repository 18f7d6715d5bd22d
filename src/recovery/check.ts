import type { Sweep } from '../lib/sweeper.ts'
import { endLook, isCalm, justStarted, watch } from '../lib/watchfulness.ts'
import { lockAgent } from '../registry/agents/agent-store.ts'
import { gatewayIdentity } from '../registry/agents/identity.ts'
import type { Gate } from '../registry/recovery/gate.ts'
import { saveGate } from '../registry/recovery/gate-store.ts'
import { saveRecovery } from '../registry/recovery/recovery-store.ts'
import type { Transaction } from '../storage/database.ts'
import type { Facts, Trouble } from '../turns/facts.ts'
import { parkSubscriptions } from '../wakes/store/park-subscriptions.ts'
import { type Candidate, nextCandidates } from './candidates.ts'
import type { RecoveryContext } from './context.ts'
import { isStale } from './decide.ts'
import { unpark } from './parking.ts'
import { readFacts } from './read-facts.ts'
import { deferredEvent, gateEvent, pulseEvent, recoveryEvent } from './recovery-event.ts'
import { isSame, step } from './step.ts'

/** The time between two looks, in ms. */
export const checkEveryMs = 30_000
const batchMax = 100

interface CheckContext extends RecoveryContext {
  /** A clock that does not run while the machine sleeps, in ms. */
  readonly steady: () => number
  readonly isClockRight: () => boolean
  readonly isOverloaded: () => boolean
}

/**
 * Looks at every agent for which something waits, on one gateway at a time, and does what the table requires: nothing in almost all cases.
 * A fault of the gateway, its clock or its machine stops all acts for two looks. Source: S3-4…S3-10.
 */
export function recoverySweep(context: CheckContext): Sweep {
  const { db, clock, steady, isClockRight, isOverloaded } = context
  let seen = justStarted
  /** How many looks in a row found an agent stale. In memory: a gateway that begins anew waits a look more. */
  let stale = new Map<string, number>()
  return {
    name: 'recovery',
    everyMs: checkEveryMs,
    async run(signal) {
      const now = clock.now()
      seen = watch(seen, { wall: now, steady: steady() }, checkEveryMs)
      const trouble = troubleNow()
      const still = new Map<string, number>()
      for (let after: string | undefined = ''; after !== undefined && !signal.aborted; ) {
        const page: readonly Candidate[] = await nextCandidates(db, after, batchMax)
        for (const candidate of page) {
          const rounds = await check(context, candidate, { now, trouble, before: stale.get(candidate.id) ?? 0 })
          if (rounds > 0) still.set(candidate.id, rounds)
        }
        after = page.length < batchMax ? undefined : page.at(-1)!.id
      }
      stale = still
      seen = endLook(seen, { wall: clock.now(), steady: steady() })
      return false
    },
  }

  function troubleNow(): Trouble | null {
    if (!isClockRight()) return 'clock_is_wrong'
    if (isOverloaded()) return 'gateway_overloaded'
    if (isCalm(seen)) return null
    return seen.hasGap ? 'machine_slept' : 'gateway_just_started'
  }
}

/** The events by which the log records that an act has ended. */
const endOf = {
  cleared: { change: 'cleared', reason: 'it has acted' },
  over: { change: 'withdrawn', reason: 'its session has ended' },
  abandoned: { change: 'abandoned', reason: 'no sign of life in time' },
} as const

interface Look {
  readonly now: number
  readonly trouble: Trouble | null
  /** Looks in a row that found it stale before this one. */
  readonly before: number
}

/** Looks at one agent. Returns how many looks in a row have found it stale. An error about one agent leaves the others alone. */
async function check(context: RecoveryContext, candidate: Candidate, look: Look): Promise<number> {
  const { db, log } = context
  try {
    const first = await readFacts(context, db, candidate, { ...look, staleRounds: 0 })
    const staleRounds = isStale(first) ? look.before + 1 : 0
    const facts = { ...first, staleRounds }
    if (isSame(facts, step(facts))) return staleRounds
    await db.transaction(async (tx) => {
      if (!(await lockAgent(tx, candidate.id))) return
      // Everything is read again under the lock: the gate, the epoch and the signs of life are those of the act.
      await act(context, tx, candidate, await readFacts(context, tx, candidate, { ...look, now: tx.now, staleRounds }))
    })
    return staleRounds
  } catch (err) {
    log.error({ err, agent: candidate.handle }, 'recovery.check_failed')
    return 0
  }
}

/** Does what a look has decided, and writes it in the same transaction. */
async function act(
  context: RecoveryContext,
  tx: Transaction,
  candidate: Candidate,
  facts: Facts & { readonly agentGate: Gate | undefined },
): Promise<void> {
  const { id, projectId, handle: agent } = candidate
  const { now } = facts
  const { recovery, decision, ended, unparked, parkedUntil, isDeferred } = step(facts)
  const { mode, epoch } = { mode: recovery.inFlight?.mode, epoch: recovery.epoch }
  const events = []
  if (parkedUntil !== null) await parkSubscriptions(tx, id, parkedUntil)
  if (unparked) {
    await unpark(context, tx, id)
    const about = { change: 'unparked', reason: 'its time is over', since: unparked.since } as const
    events.push(recoveryEvent('recovery.unparked', candidate, about))
  }
  if (ended) {
    const about = {
      ...endOf[ended.how],
      mode: ended.mode,
      epoch: facts.recovery.epoch,
      since: ended.since,
    } as const
    events.push(recoveryEvent('recovery.ended', candidate, about))
  }
  if (isDeferred) events.push(deferredEvent(candidate, facts))
  if (decision.action === 'pulse') events.push(pulseEvent(candidate, facts, 'heartbeat'))
  if (decision.action === 'nudge' || decision.action === 'restart') {
    const about = { change: 'ordered', mode: decision.action, epoch, reason: decision.reason, since: now } as const
    events.push(recoveryEvent('recovery.ordered', candidate, about))
    tx.onCommit(() => context.log.info({ agent, mode, epoch }, 'recovery.ordered'))
  }
  if (decision.action === 'nudge') events.push(pulseEvent(candidate, facts, 'nudge'))
  if (decision.action === 'trip') {
    const reason =
      decision.reason === 'budget_spent' ? 'too many acts within an hour' : 'no act has led to a sign of life'
    const state = { nudges: 'tripped', restarts: 'tripped', reason, changedBy: gatewayIdentity, since: now } as const
    await saveGate(tx, { projectId, agentId: id, ...state, settings: facts.agentGate?.settings ?? {} })
    events.push(gateEvent(agent, id, state))
    tx.onCommit(() => context.log.warn({ agent, reason }, 'gate.tripped'))
  }
  await saveRecovery(tx, recovery)
  await context.append(tx, projectId, events)
}
