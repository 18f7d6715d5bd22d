import { Problem } from '../errors.ts'
import { lockAgent } from '../registry/agents/agent-store.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { type Gate, type GateState, type RecoverySettings, settingDefaults } from '../registry/recovery/gate.ts'
import { type Gates, readGates, saveGate } from '../registry/recovery/gate-store.ts'
import { findRecovery, saveRecovery } from '../registry/recovery/recovery-store.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { skipKey } from '../turns/reason-keys.ts'
import { endWithheld } from '../turns/turn-store.ts'
import { hurrySubscriptions, listLeased } from '../wakes/store/park-subscriptions.ts'
import type { RecoveryContext } from './context.ts'
import { gateEvent } from './recovery-event.ts'

/** The choices for mail that gathered while a gate was tripped: one digest, or nothing is done for it, or the gate stays off. */
export const backlogs = ['digest', 'skip', 'off'] as const
type Backlog = (typeof backlogs)[number]

/** A change of a gate. `agent`: of one agent; absent: of the project. */
interface GateChange {
  readonly agent?: { readonly id: string; readonly handle: string } | undefined
  readonly nudges?: GateState | undefined
  readonly restarts?: GateState | undefined
  readonly reason?: string | undefined
  readonly settings?: { readonly [Name in keyof RecoverySettings]?: number | null | undefined } | undefined
  /** The message of a wake test that its agent has acknowledged since the trip. */
  readonly proof?: string | undefined
  readonly backlog?: Backlog | undefined
}

export interface GateContext extends RecoveryContext {
  /** The agent that acknowledged a wake test, and when (ms since the epoch); undefined: it is none, or nobody has. */
  readonly findProof: (
    db: Reader,
    projectId: string,
    messageId: string,
  ) => Promise<{ agentId: string; at: number } | undefined>
  /** Has what waits for an agent sent as one digest. Returns the ids of the subscriptions. */
  readonly announceWaiting: (tx: Transaction, agentId: string) => Promise<readonly string[]>
}

/**
 * Changes what recovery may do. A gate that has tripped opens only with the proof of a wake test that came full circle since, and with a
 * choice for what gathered. Errors: `invalid-request`. Source: S3-10.
 */
export async function changeGate(context: GateContext, caller: Caller, change: GateChange): Promise<Gates> {
  const { projectId } = caller
  const agentId = change.agent?.id ?? ''
  return context.db.transaction(async (tx) => {
    const { project, agent } = await readGates(tx, projectId, agentId)
    const before = agentId === '' ? project : agent
    const isTripped = (field: 'nudges' | 'restarts') => (before ? before[field] === 'tripped' : agentId === '')
    const untrips = fields.filter((field) => isTripped(field) && isGiven(change, field) && change[field] !== 'tripped')
    if (untrips.length > 0) await requireProof(context, tx, caller, change, before)
    const next = (field: 'nudges' | 'restarts'): GateState => {
      const known = before?.[field] ?? (agentId === '' ? 'tripped' : 'enabled')
      // With the proof both are tripped no more; the one that nobody has named stays shut.
      const otherwise = known === 'tripped' && untrips.length > 0 ? 'disabled' : known
      return (change.backlog === 'off' && untrips.length > 0 ? 'disabled' : change[field]) ?? otherwise
    }
    const states = { nudges: next('nudges'), restarts: next('restarts') }
    const isSame = before?.nudges === states.nudges && before.restarts === states.restarts
    const gate: Gate = {
      projectId,
      agentId,
      ...states,
      reason: change.reason ?? (isSame ? before.reason : null),
      changedBy: caller.identity,
      since: isSame ? before.since : tx.now,
      settings: mergedSettings(before?.settings ?? {}, change.settings),
    }
    await saveGate(tx, gate)
    if (change.settings) await askAgain(context, tx, projectId, agentId)
    if (untrips.length > 0 && agentId !== '') await settleBacklog(context, tx, { agentId, projectId }, change.backlog!)
    const gates = await readGates(tx, projectId, agentId)
    // What holds from now on: the other gate may be the stricter one.
    const { nudges, restarts } = gates.effective
    await context.append(tx, projectId, [gateEvent(change.agent?.handle, agentId, { ...gate, nudges, restarts })])
    return gates
  })
}

const fields = ['nudges', 'restarts'] as const

const isGiven = (change: GateChange, field: 'nudges' | 'restarts'): boolean => change[field] !== undefined

async function requireProof(
  { findProof }: GateContext,
  tx: Transaction,
  { projectId }: Caller,
  { agent, proof, backlog }: GateChange,
  before: Gate | undefined,
): Promise<void> {
  const who = agent?.handle ?? 'an agent'
  if (proof === undefined) {
    throw new Problem('invalid-request', {
      field: 'proof',
      detail: 'proof: the gate has tripped.',
      remedy: 'prove-wakes',
      extra: { agent: who },
    })
  }
  if (backlog === undefined) {
    throw new Problem('invalid-request', {
      field: 'backlog',
      detail: `backlog: say what becomes of what gathered: ${backlogs.join(', ')}.`,
    })
  }
  const found = await findProof(tx, projectId, proof)
  const isOfAgent = found !== undefined && (agent === undefined || found.agentId === agent.id)
  if (isOfAgent && found.at >= (before?.since ?? 0)) return
  throw new Problem('invalid-request', {
    field: 'proof',
    detail: `proof: ${proof} is no wake test that ${who} has acknowledged since the gate tripped.`,
    remedy: 'prove-wakes-again',
    extra: { agent: who },
  })
}

/** Caps may have changed: the turns that they withhold are asked for again, and a run that has read the former ones ends. */
async function askAgain({ changed }: GateContext, tx: Transaction, projectId: string, agentId: string): Promise<void> {
  for (const id of await endWithheld(tx, projectId, agentId)) {
    const ids = await hurrySubscriptions(tx, id)
    tx.onCommit(() => ids.forEach(changed))
  }
  const running = await listLeased(tx, projectId, agentId)
  tx.onCommit(() => running.forEach(changed))
}

/** One digest, or recovery leaves alone what waits now. Source: S3-10. */
async function settleBacklog(
  { announceWaiting, findReason, changed }: GateContext,
  tx: Transaction,
  { agentId, projectId }: { readonly agentId: string; readonly projectId: string },
  backlog: Backlog,
): Promise<void> {
  if (!(await lockAgent(tx, agentId))) return
  const recovery = await findRecovery(tx, agentId, projectId)
  const reason = backlog === 'skip' ? await findReason(tx, agentId) : null
  await saveRecovery(tx, {
    ...recovery,
    abandoned: 0,
    acts: [],
    actedFor: reason ? skipKey(reason) : recovery.actedFor,
  })
  if (backlog !== 'digest') return
  const ids = await announceWaiting(tx, agentId)
  tx.onCommit(() => ids.forEach(changed))
}

function mergedSettings(before: Gate['settings'], changes: GateChange['settings'] = {}): Gate['settings'] {
  const merged = { ...before, ...changes }
  const names = Object.keys(settingDefaults) as (keyof RecoverySettings)[]
  const kept = names.flatMap((name) => (typeof merged[name] === 'number' ? [[name, merged[name]]] : []))
  return Object.fromEntries(kept) as Gate['settings']
}
