import type { JsonObject } from '../lib/json.ts'
import type { Sweep } from '../lib/sweeper.ts'
import { type NewEvent, operatorAudience } from '../log/event.ts'
import { lockAgent } from '../registry/agents/agent-store.ts'
import { gatewayIdentity } from '../registry/agents/identity.ts'
import { saveGate } from '../registry/recovery/gate-store.ts'
import { parkedMsMax, type Recovery } from '../registry/recovery/recovery.ts'
import { saveRecovery } from '../registry/recovery/recovery-store.ts'
import type { Transaction } from '../storage/database.ts'
import { parkSubscriptions } from '../wakes/store/park-subscriptions.ts'
import { type Candidate, nextCandidates } from './candidates.ts'
import type { RecoveryContext } from './context.ts'
import { afterAct, type Decision, decide, isStale, restartKey } from './decide.ts'
import { evidenceOf } from './evidence.ts'
import { type Facts, hourMs, type Trouble } from './facts.ts'
import { unpark } from './parking.ts'
import { readFacts } from './read-facts.ts'
import { recoveryEvent } from './recovery-event.ts'
import { isCalm, justStarted, watch } from './watchfulness.ts'

export const checkEveryMs = 30_000
const batchMax = 100
/** Looks in a row at which a person was waited for, until operator and senders are told once. */
const deferralsMax = 20
const dayMs = 24 * hourMs

interface CheckContext extends RecoveryContext {
  /** A clock that does not run while the machine sleeps, in ms. */
  readonly steady: () => number
  readonly isClockRight: () => boolean
  readonly isOverloaded: () => boolean
}

/**
 * Looks at every agent for which something waits, on one gateway at a time, and does what the table says: nothing in almost all cases.
 * A fault of the gateway, its clock or its machine stops all acts for two looks. Source: S3-4…S3-10.
 */
export function recoverySweep(context: CheckContext): Sweep {
  const { db, clock, log, steady, isClockRight, isOverloaded } = context
  let seen = justStarted
  /** How many looks in a row found an agent stale. In memory: a gateway that begins anew waits a look more. */
  let stale = new Map<string, number>()
  return {
    name: 'recovery',
    everyMs: checkEveryMs,
    async run(signal) {
      const now = clock.now()
      const isFirst = seen.last === null
      seen = watch(seen, { wall: now, steady: steady() }, checkEveryMs)
      const trouble = troubleOf(isFirst)
      const still = new Map<string, number>()
      for (let after = ''; !signal.aborted; ) {
        const page = await nextCandidates(db, after, batchMax)
        for (const candidate of page) {
          const rounds = await check(context, candidate, { now, trouble, before: stale.get(candidate.id) ?? 0 })
          if (rounds > 0) still.set(candidate.id, rounds)
        }
        if (page.length < batchMax) break
        after = page.at(-1)!.id
      }
      stale = still
      return false
    },
  }

  function troubleOf(isFirst: boolean): Trouble | null {
    if (!isClockRight()) return 'clock_is_wrong'
    if (isOverloaded()) return 'gateway_overloaded'
    if (isCalm(seen)) return null
    if (!isFirst && seen.calm === 0) log.warn({}, 'recovery.slept')
    return isFirst ? 'gateway_just_started' : 'machine_slept'
  }
}

interface Look {
  readonly now: number
  readonly trouble: Trouble | null
  /** Looks in a row that found it stale before this one. */
  readonly before: number
}

/** Looks at one agent. Returns how many looks in a row have found it stale. An error of one agent leaves the others alone. */
export async function check(context: RecoveryContext, candidate: Candidate, look: Look): Promise<number> {
  const { db, log } = context
  try {
    const first = await readFacts(context, db, candidate, { ...look, staleRounds: 0 })
    const staleRounds = isStale(first) ? look.before + 1 : 0
    const facts = { ...first, staleRounds }
    if (isUnchanged(facts)) return staleRounds
    await db.transaction(async (tx) => {
      if (!(await lockAgent(tx, candidate.id))) return
      // Everything is read again under the lock: the gate, the epoch and the signs of life are those of the act.
      const locked = { ...(await readFacts(context, tx, candidate, { ...look, staleRounds })), now: tx.now }
      await act(context, tx, candidate, locked)
    })
    return staleRounds
  } catch (err) {
    log.error({ err, agent: candidate.handle }, 'recovery.check_failed')
    return 0
  }
}

/** Whether a look has nothing to write: the act in flight is still held, or the decision is that of the last look. */
function isUnchanged(facts: Facts): boolean {
  const { recovery } = facts
  if (recovery.inFlight && afterAct(facts) !== 'held') return false
  if (recovery.parked && (recovery.parked.until <= facts.now || recovery.parked.isOpen)) return false
  const { action, reason } = decide(facts)
  if (reason === 'waiting_on_person') return recovery.deferrals > deferralsMax
  return (action === 'nothing' || action === 'wait' || action === 'park') && recovery.decision?.reason === reason
}

async function act(
  context: RecoveryContext,
  tx: Transaction,
  candidate: Candidate,
  facts: Awaited<ReturnType<typeof readFacts>>,
): Promise<void> {
  const events: NewEvent[] = []
  const { now } = facts
  let recovery: Recovery = facts.recovery
  const save = async (changes: Partial<Recovery>): Promise<void> => {
    recovery = { ...recovery, ...changes }
  }
  if (recovery.parked) await seePark(context, tx, candidate, recovery.parked, now, { save, events })
  const end = recovery.inFlight ? afterAct(facts) : 'held'
  if (recovery.inFlight && end !== 'held') {
    const { mode, since } = recovery.inFlight
    const abandoned = end === 'cleared' ? 0 : recovery.abandoned + 1
    await save({ inFlight: null, abandoned })
    const about = { change: end, mode, epoch: recovery.epoch, reason: reasonOfEnd(end, mode), since: iso(since) }
    events.push(recoveryEvent('recovery.ended', candidate, about))
  }
  const decision = decide({ ...facts, recovery })
  await carryOut(context, tx, candidate, { ...facts, recovery }, decision, { save, events })
  const told = { ...decision, at: iso(now), evidence: evidenceOf({ ...facts, recovery }) }
  if (recovery.decision?.reason !== decision.reason || decision.action !== 'nothing') await save({ decision: told })
  await saveRecovery(tx, recovery)
  await context.append(tx, candidate.projectId, events)
}

interface Doing {
  readonly save: (changes: Partial<Recovery>) => Promise<void>
  readonly events: NewEvent[]
}

/** Ends a park whose time is over, and prolongs one that waits for a person. */
async function seePark(
  context: RecoveryContext,
  tx: Transaction,
  candidate: Candidate,
  parked: NonNullable<Recovery['parked']>,
  now: number,
  { save, events }: Doing,
): Promise<void> {
  if (parked.isOpen && parked.until - now < parkedMsMax - dayMs) {
    const until = now + parkedMsMax
    await parkSubscriptions(tx, candidate.id, until)
    return save({ parked: { ...parked, until } })
  }
  if (parked.isOpen || parked.until > now) return
  await unpark(context, tx, candidate.id)
  await save({ parked: null })
  const about = { change: 'unparked', reason: 'its time is over', since: iso(parked.since) }
  events.push(recoveryEvent('recovery.unparked', candidate, about))
}

async function carryOut(
  context: RecoveryContext,
  tx: Transaction,
  candidate: Candidate,
  facts: Awaited<ReturnType<typeof readFacts>>,
  decision: Decision,
  { save, events }: Doing,
): Promise<void> {
  const { now, recovery, reason } = facts
  if (decision.reason !== 'waiting_on_person' && recovery.deferrals > 0) await save({ deferrals: 0 })
  if (decision.reason === 'waiting_on_person') {
    const deferrals = Math.min(recovery.deferrals + 1, deferralsMax + 1)
    await save({ deferrals })
    if (deferrals === deferralsMax) events.push(deferredEvent(candidate, facts))
    return
  }
  if (decision.action === 'pulse') {
    await save({ pulsedAt: now, pulsedFor: reason!.key })
    events.push(pulseEvent(candidate, facts, 'heartbeat'))
    return
  }
  if (decision.action === 'trip') {
    const { projectId, id: agentId } = candidate
    const why = decision.reason === 'budget_spent' ? 'too many acts within an hour' : 'no act has led to a sign of life'
    const gate = { projectId, agentId, nudges: 'tripped', restarts: 'tripped', reason: why } as const
    await saveGate(tx, { ...gate, changedBy: gatewayIdentity, since: now, settings: facts.agentGate?.settings ?? {} })
    events.push(gateEvent(candidate.handle, agentId, { ...gate, changedBy: gatewayIdentity, since: now }))
    tx.onCommit(() => context.log.warn({ agent: candidate.handle, reason: why }, 'gate.tripped'))
    return
  }
  if (decision.action !== 'nudge' && decision.action !== 'restart') return
  const mode = decision.action
  const epoch = recovery.epoch + 1
  const sessionId = (mode === 'nudge' ? facts.session : facts.former)?.id ?? null
  await save({
    epoch,
    inFlight: { mode, since: now, begunAt: null, sessionId, evidence: evidenceOf(facts) },
    actedFor: mode === 'nudge' ? reason!.key : restartKey(facts),
    acts: [...recovery.acts.filter(({ at }) => at > now - hourMs && at <= now), { mode, at: now }],
  })
  const about = { change: 'ordered', mode, epoch, reason: decision.reason, since: iso(now) }
  events.push(recoveryEvent('recovery.ordered', candidate, about))
  if (mode === 'nudge') events.push(pulseEvent(candidate, facts, 'nudge'))
  tx.onCommit(() => context.log.info({ agent: candidate.handle, mode, epoch }, 'recovery.ordered'))
}

/** A wake without mail: why, and the one next action. Source: S1-30. */
function pulseEvent({ id, handle }: Candidate, facts: Facts, mode: 'nudge' | 'heartbeat'): NewEvent {
  const { unread, openTasks, oldestAt } = facts.reason!
  const kinds = [unread > 0 ? 'unread_mail' : [], openTasks > 0 ? 'open_task' : []].flat()
  const contextTokens = facts.session?.contextTokens ?? undefined
  const route = mode === 'nudge' ? { routing: { subscriptionId: facts.route!.subscriptionId } } : {}
  const data: JsonObject = {
    agent: handle,
    mode,
    reason: kinds.join('_and_'),
    unread,
    openTasks,
    oldestAt: iso(oldestAt),
    next: unread > 0 ? 'Read your inbox.' : 'Go on with your open tasks, or hand them back.',
    ...(contextTokens === undefined ? {} : { contextTokens }),
    ...route,
  }
  return { type: 'heartbeat.pulse', actor: gatewayIdentity, audience: [id], data }
}

/** Told once to the operator, the agent and those who wait. */
function deferredEvent(candidate: Candidate, { reason, session }: Facts): NewEvent {
  const since = session?.presenceAt ?? reason!.oldestAt
  const about = { change: 'deferred', reason: 'its harness waits for a person', since: iso(since) }
  const event = recoveryEvent('recovery.deferred', candidate, about)
  return { ...event, audience: [...new Set([...event.audience, ...reason!.senderIds])] }
}

/** A change of a gate: to the operator, and to the agent that it is about. */
export function gateEvent(
  agent: string | undefined,
  agentId: string,
  { since, ...gate }: { nudges: string; restarts: string; reason: string | null; changedBy: string; since: number },
): NewEvent {
  const { nudges, restarts, reason, changedBy } = gate
  const data = { ...(agent === undefined ? {} : { agent }), nudges, restarts, reason, changedBy, since: iso(since) }
  const audience = agentId === '' ? [operatorAudience] : [agentId, operatorAudience]
  return { type: 'gate.changed', actor: changedBy, audience, data }
}

function reasonOfEnd(end: 'cleared' | 'abandoned', mode: string): string {
  if (end === 'cleared') return mode === 'nudge' ? 'the agent has acted' : 'a new session has acted'
  return 'no sign of life in time'
}

const iso = (at: number): string => new Date(at).toISOString()
