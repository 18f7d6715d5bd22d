import type { JsonObject } from '../../../lib/json.ts'
import type { Decision } from '../../../recovery/decide.ts'
import type { Finding } from '../../../recovery/evidence.ts'
import type { EffectiveGate, Gate, GateState, RecoverySettings } from '../../../registry/recovery/gate.ts'
import type { Gates } from '../../../registry/recovery/gate-store.ts'
import type { BridgeAccount, Parked, Recovery, RecoveryMode } from '../../../registry/recovery/recovery.ts'
import { type Facts, recentActs } from '../../../turns/facts.ts'
import type { HarnessTarget } from '../../../words/targets.ts'
import { instant, instantOrNull } from '../instant.ts'

/** An agent whose harness is at a limit. Instants are ISO 8601. Source: D50. */
export interface ParkedView {
  /** null: until a person acts. */
  readonly until: string | null
  readonly reason: Parked['reason']
  readonly detail?: string
  readonly since: string
}

/** The acts that recovery may do, and the reason. Source: S3-10. */
export interface GateView {
  /** `@donna`; absent: the gate of the project. */
  readonly agent?: string
  readonly nudges: GateState
  readonly restarts: GateState
  readonly reason: string | null
  /** null: the gate is missing. */
  readonly since: string | null
  readonly settings: RecoverySettings
  /** Of an agent: its own gate and that of its project, each with its reason. The stricter one holds for each act. */
  readonly gates?: readonly OneGateView[]
}

/** A gate as it was set. */
interface OneGateView {
  /** Absent: that of the project. */
  readonly agent?: string
  readonly nudges: GateState
  readonly restarts: GateState
  readonly reason: string | null
  readonly since: string
}

/** A decision of a look, and what it rests on. */
interface DecisionView {
  readonly action: Decision['action']
  readonly reason: Decision['reason']
  readonly at: string
  readonly evidence: JsonObject
}

/** The state of recovery for an agent: its findings, its decision and its acts. Source: S3-11. */
export interface RecoveryView {
  readonly agent: string
  readonly candidates: readonly Finding[]
  /** The last decision; null: it has not looked yet, or nothing has waited since. */
  readonly decision: DecisionView | null
  readonly inFlight: {
    readonly mode: RecoveryMode
    readonly epoch: number
    readonly since: string
    /** When a bridge began it. */
    readonly begunAt: string | null
    readonly evidence: JsonObject
  } | null
  readonly epoch: number
  /** Acts in a row without a sign of life. */
  readonly abandoned: number
  readonly actsLastHour: { readonly nudges: number; readonly restarts: number }
  readonly parked: ParkedView | null
  readonly bridge: (BridgeAccount & { readonly reportedAt: string }) | null
  readonly gate: GateView
  /** Unread mail that may wake it, and open tasks that it works on, of each 200 at most; null: nothing waits. */
  readonly waiting: { readonly unread: number; readonly openTasks: number; readonly oldestAt: string } | null
  /** The open way into its session that has proved the most; null: there is none. */
  readonly route: {
    readonly subscriptionId: string
    readonly harnessTarget: HarnessTarget
    readonly isProven: boolean
    readonly provedAt: string | null
  } | null
}

/** The heartbeat of an agent: whether a proven route makes it unnecessary. Source: S1-42. */
export interface HeartbeatView {
  readonly agent: string
  readonly bypassedBy: { readonly subscriptionId: string; readonly harnessTarget: HarnessTarget } | null
  readonly lastPulseAt: string | null
}

export function parkedView({ isOpen, until, reason, detail, since }: Parked): ParkedView {
  const said = detail === null ? {} : { detail }
  return { until: isOpen ? null : instant(until), reason, ...said, since: instant(since) }
}

function gateView({ nudges, restarts, reason, since, settings }: EffectiveGate, agent?: string): GateView {
  return { ...(agent === undefined ? {} : { agent }), nudges, restarts, reason, since: instantOrNull(since), settings }
}

/** The gate that holds, and for an agent the two that it follows from. */
export function gatesView({ project, agent: own, effective }: Gates, agent?: string): GateView {
  const gates = [own, project].flatMap((gate) => (gate === undefined ? [] : [oneGateView(gate, agent)]))
  return { ...gateView(effective, agent), ...(agent === undefined ? {} : { gates }) }
}

function oneGateView({ agentId, nudges, restarts, reason, since }: Gate, agent?: string): OneGateView {
  const whose = agentId === '' || agent === undefined ? {} : { agent }
  return { ...whose, nudges, restarts, reason, since: instant(since) }
}

export function recoveryView(
  agent: string,
  recovery: Recovery,
  seen: Pick<Facts, 'gate' | 'now' | 'reason' | 'route'> & { readonly candidates: readonly Finding[] },
): RecoveryView {
  const { epoch, inFlight, decision, abandoned, parked, bridge, bridgeAt } = recovery
  const { reason, route } = seen
  const count = (mode: RecoveryMode): number => recentActs(recovery, mode, seen.now).length
  return {
    agent,
    candidates: seen.candidates,
    decision: decision as DecisionView | null,
    inFlight: inFlight && {
      mode: inFlight.mode,
      epoch,
      since: instant(inFlight.since),
      begunAt: instantOrNull(inFlight.begunAt),
      evidence: inFlight.evidence,
    },
    epoch,
    abandoned,
    actsLastHour: { nudges: count('nudge'), restarts: count('restart') },
    parked: parked && parked.until > seen.now ? parkedView(parked) : null,
    bridge: bridge && bridgeAt !== null ? { ...bridge, reportedAt: instant(bridgeAt) } : null,
    gate: gateView(seen.gate, agent),
    waiting: reason && { unread: reason.unread, openTasks: reason.openTasks, oldestAt: instant(reason.oldestAt) },
    route: route && { ...route, provedAt: instantOrNull(route.provedAt ?? null) },
  }
}
