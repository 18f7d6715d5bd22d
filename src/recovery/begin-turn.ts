import { Problem } from '../errors.ts'
import type { LogEvent } from '../log/event.ts'
import { readTriggerEvents } from '../log/event-store.ts'
import { lockAgent } from '../registry/agents/agent-store.ts'
import { readGates } from '../registry/recovery/gate-store.ts'
import { findRecovery } from '../registry/recovery/recovery-store.ts'
import type { Transaction } from '../storage/database.ts'
import type { TurnFacts } from '../turns/facts.ts'
import { mayStart, type Refusal } from '../turns/may-start.ts'
import {
  capsOf,
  hasCaps,
  newTurn,
  partiesOf,
  reachedCap,
  type Turn,
  type TurnCost,
  type TurnOutcome,
  withheld,
  withheldTurn,
} from '../turns/turn.ts'
import { endTurn, insertTurn, insertWithheldTurn, recentTurns } from '../turns/turn-store.ts'
import { findWakeRange, type WakeRange } from '../wakes/store/wake-range.ts'
import type { RecoveryContext } from './context.ts'

/** The events of a wake that are looked at for their senders. */
const eventsMax = 100
/** The newest turns among which the same mail is looked for. */
const takenMax = 200

/** The agent whose turn it is. */
interface TurnAgent {
  readonly id: string
  readonly projectId: string
  readonly handle: string
}

/** A turn that a program of an agent wants to begin. */
interface TurnInput {
  /** The wake that it is for. */
  readonly eventId: string
  /** The harness that it starts: `exec`, `codex`, … */
  readonly route: string
}

/**
 * Asks for a turn, and books it if it may begin: a program of an agent calls it immediately before it begins a turn or a harness.
 * Two that ask for the same mail at once get one turn. Errors: `agent-not-found`. Source: D53.
 */
export async function beginTurn(
  context: RecoveryContext,
  agent: TurnAgent,
  { eventId, route }: TurnInput,
): Promise<Turn | (Refusal & Pick<TurnFacts, 'cap'>)> {
  const { id: agentId, projectId, handle } = agent
  return context.db.transaction(async (tx) => {
    if (!(await lockAgent(tx, agentId))) {
      throw new Problem('agent-not-found', { detail: `${handle} is no longer registered.` })
    }
    const { now } = tx
    const wake = await findWakeRange(tx, agentId, eventId)
    const events = wake ? await eventsOf(tx, agent, wake) : []
    const parties = partiesOf(events)
    const [recovery, { effective: gate }] = await Promise.all([
      findRecovery(tx, agentId, projectId),
      readGates(tx, projectId, agentId),
    ])
    const settings = capsOf(gate.settings, route)
    const isCapped = hasCaps(settings)
    const recent = await recentTurns(tx, agentId, now, isCapped ? undefined : takenMax)
    const others = recent.filter((turn) => isOther(turn, wake?.subscriptionId))
    const isTaken = events.length > 0 && events.every(({ logId }) => others.some((turn) => covers(turn, logId)))
    const cap = isCapped ? reachedCap(settings, recent, parties, now) : null
    const verdict = mayStart('run', { now, recovery, isTaken, cap })
    const { subscriptionId, fromLogId, toLogId } = wake ?? {}
    const asked = {
      projectId,
      agentId,
      act: 'run',
      route,
      eventId,
      subscriptionId,
      fromLogId,
      toLogId,
      ...parties,
    } as const
    if (verdict.answer !== 'start') {
      if (verdict.rule === 'turn_cap') await insertWithheldTurn(tx, withheldTurn(asked, cap!, now))
      return { ...verdict, cap }
    }
    const turn = newTurn(asked, now)
    await insertTurn(tx, turn)
    return turn
  })
}

/** The end of a turn, as its program reports it. */
interface TurnEnd {
  readonly outcome: TurnOutcome
  readonly detail?: string | undefined
  /** The cost of the turn, as the harness reports it. */
  readonly cost?: TurnCost | undefined
}

/** Books the end of a turn. Errors: `turn-not-found`. */
export async function reportTurn(
  { db }: RecoveryContext,
  agent: TurnAgent,
  id: string,
  { outcome, detail, cost }: TurnEnd,
): Promise<void> {
  const said = { outcome, detail: detail ?? null, cost: cost ?? null }
  if (await db.transaction((tx) => endTurn(tx, agent.id, id, said))) return
  throw new Problem('turn-not-found', {
    detail: `There is no turn ${id}, or it is not yours.`,
    remedy: 'list-turns',
  })
}

/** The events of a wake that its agent is notified of. */
function eventsOf(
  tx: Transaction,
  { id, projectId }: TurnAgent,
  { trigger, fromLogId, toLogId }: WakeRange,
): Promise<LogEvent[]> {
  return readTriggerEvents(tx, projectId, id, trigger, { after: fromLogId - 1, upTo: toLogId, limit: eventsMax })
}

/** True: another program has begun it, and it has not failed. */
const isOther = ({ act, subscriptionId, outcome }: Turn, own: string | undefined): boolean =>
  act === 'run' && subscriptionId !== own && ![withheld, 'failed', 'held'].includes(outcome ?? '')

const covers = ({ fromLogId, toLogId }: Turn, logId: number): boolean =>
  fromLogId !== null && toLogId !== null && fromLogId <= logId && logId <= toLogId
