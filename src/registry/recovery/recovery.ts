import type { JsonObject } from '../../lib/json.ts'
import { flag, int, json, type NounOf, nullable, text, word } from '../../storage/columns.ts'

/** An act of recovery: a pulse into the live session, or an order to restart the harness. */
export type RecoveryMode = 'nudge' | 'restart'

/** An act in flight: the agent's lock. Nothing else is done for it until it ends. Instants in ms since the epoch. Source: S3-9. */
export interface InFlight {
  readonly mode: RecoveryMode
  /** When it was ordered. It never moves: what happened since is looked for from here. */
  readonly since: number
  /** Until when it has to lead to a sign of life. It moves while nothing can be known of the agent. */
  readonly deadlineAt: number
  /** When a bridge began it; null: not yet, or it is a nudge. */
  readonly begunAt: number | null
  /** The session that it was decided about; null: there was none. */
  readonly sessionId: string | null
  /** Why it was decided. */
  readonly evidence: JsonObject
}

/** The agent begins no turn before `until`: its harness is at a limit. Source: D50. */
export interface Parked {
  readonly since: number
  readonly until: number
  /** It stays until a person acts. */
  readonly isOpen: boolean
  readonly reason: ParkedReason
  readonly detail: string | null
}

export const parkedReasons = ['usage-limit', 'rate-limit', 'spend-cap'] as const
export type ParkedReason = (typeof parkedReasons)[number]

/** The state of the recipe by which a bridge restarts the harness of an agent: proven, unproven, or none. */
type RestartRecipe = 'none' | 'unproven' | 'proven'

/** A bridge's report of itself and of the harness of one agent. Instants are ISO 8601. */
export interface BridgeAccount {
  readonly startedAt: string
  /** How often it was started. */
  readonly starts: number
  readonly lastAcceptAt?: string | undefined
  readonly lastSweepAt?: string | undefined
  /** Steps that outlived their bound. */
  readonly late?: readonly { readonly step: string; readonly count: number }[] | undefined
  readonly restart: RestartRecipe
  readonly harness?: string | undefined
  /** The process of the harness that it sees. */
  readonly process?: { readonly pid: number; readonly startedAt: string } | undefined
  /** True: a conversation of the agent is open there. */
  readonly seen: boolean
}

export const recoveryFields = {
  agentId: text,
  projectId: text,
  epoch: int,
  mode: nullable(word<RecoveryMode>()),
  since: nullable(int),
  deadlineAt: nullable(int),
  begunAt: nullable(int),
  sessionId: nullable(text),
  evidence: nullable(json<JsonObject>()),
  /** The reason of the last act. */
  actedFor: nullable(text),
  /** Acts in a row without a sign of life. */
  abandoned: int,
  /** The acts of the last hour. */
  acts: json<readonly { readonly mode: RecoveryMode; readonly at: number }[]>(),
  /** Looks in a row at which it waited for a person. */
  deferrals: int,
  pulsedAt: nullable(int),
  pulsedFor: nullable(text),
  parkedSince: nullable(int),
  parkedUntil: nullable(int),
  parkedOpen: flag,
  parkedReason: nullable(word<ParkedReason>()),
  parkedDetail: nullable(text),
  decision: nullable(json<JsonObject>()),
  bridge: nullable(json<BridgeAccount>()),
  bridgeAt: nullable(int),
}

/** The knowledge of recovery about an agent. */
export interface Recovery extends Omit<NounOf<typeof recoveryFields>, keyof InFlight | `parked${string}`> {
  readonly inFlight: InFlight | null
  readonly parked: Parked | null
}

export const noRecovery = (agentId: string, projectId: string): Recovery => ({
  agentId,
  projectId,
  epoch: 0,
  inFlight: null,
  actedFor: null,
  abandoned: 0,
  acts: [],
  deferrals: 0,
  pulsedAt: null,
  pulsedFor: null,
  parked: null,
  decision: null,
  bridge: null,
  bridgeAt: null,
})

/** True: an agent begins no turn now. Pure. */
export function isParked({ parked }: Pick<Recovery, 'parked'>, now: number): boolean {
  return parked !== null && parked.until > now
}
