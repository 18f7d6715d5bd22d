import type { PresenceState } from '../../words/presence.ts'
import type { AdapterId } from '../adapter.ts'
import type { RunState } from './agent-state.ts'

/** The state of a bridge, as `rouse bridge status` shows it. Instants are ISO 8601. No secret is in it. */
export interface BridgeStatus {
  /** True: a bridge answered. False: the configuration and the journal say it. */
  readonly isRunning: boolean
  readonly pid?: number
  readonly startedAt?: string
  /** The file of the configuration. */
  readonly config: string
  readonly agents: readonly AgentStatus[]
  readonly harnesses: readonly HarnessStatus[]
  readonly turnsLastMinute: number
  readonly maxTurnsAMinute: number
}

export interface AgentStatus {
  /** `@donna` */
  readonly agent: string
  readonly profile: string
  readonly gateway: string
  readonly state: RunState | 'not running'
  readonly reason?: string
  readonly harnesses: readonly AdapterId[]
  readonly directories: readonly string[]
  /** The wake that is held now, and how many wait after it. `givenUpAt`: its harness has it; when it expires if no turn begins. */
  readonly held?: {
    readonly wakeId: string
    readonly reason: string
    readonly since: string
    readonly nextAt?: string
    readonly givenUpAt?: string
  }
  readonly waiting: number
  readonly turnsLastHour: number
  readonly turnsAnHour: number
  /** A person may answer from elsewhere what its harnesses ask. */
  readonly approvals?: true
  /** Absent: the bridge starts nothing for it. */
  readonly restart?: RestartStatus
  /** Why it is handed no wakes now, whoever sends them. */
  readonly parked?: string
  /** The newest wakes, and what is known of each. */
  readonly last: readonly WakeStatus[]
}

/** The recipe of an agent, and what the bridge has started with it. */
export interface RestartStatus {
  readonly harness: AdapterId
  /** When the recipe was proven, as it is written now; absent: it is not. */
  readonly provenAt?: string
  /** The last start. `epoch`: the act of the gateway; absent: a proof. */
  readonly last?: {
    readonly epoch?: number
    readonly at: string
    readonly outcome: string
    readonly detail?: string
  }
  /** The process that it has started and that runs. */
  readonly pid?: number
}

export interface WakeStatus {
  readonly wakeId: string
  readonly from?: string
  readonly step: string
  readonly detail?: string
  readonly harness?: AdapterId
  readonly conversationId?: string
  readonly route?: string
  readonly at: string
}

export interface HarnessStatus {
  readonly harness: AdapterId
  readonly title: string
  readonly isThere: boolean
  readonly version?: string
  readonly remarks: readonly string[]
  readonly conversations: readonly {
    readonly conversationId: string
    readonly cwd?: string
    readonly pid?: number
    readonly state: PresenceState
    /** The way that a wake would take now; absent: none. */
    readonly route?: string
    readonly remark?: string
  }[]
}
