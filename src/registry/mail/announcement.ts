import type { JsonObject } from '../../lib/json.ts'
import type { Transaction } from '../../storage/database.ts'

export const systemSignals = ['MasterPreempted', 'PeerJoined', 'PeerLeft'] as const
/** The signals that only the gateway sends. Source: S2-7. */
export type SystemSignal = (typeof systemSignals)[number]

/** A signal from the gateway to one agent, to one session of it, or to all agents of a project that have a live session. */
export interface Announcement {
  readonly projectId: string
  readonly signalType: SystemSignal
  /** Shaped as S2-7 says. */
  readonly payload: JsonObject
  /** An agent's id, or `project` for all agents with a live session. */
  readonly toAgentId: string
  /** The only session of the agent that gets it; left out: the one that speaks for the agent. Source: D26. */
  readonly toSessionId?: string
  readonly exceptAgentId?: string | undefined
}

/** Sends an announcement within the transaction of its cause. Call it last: it appends to the log. */
export type Announce = (tx: Transaction, announcement: Announcement) => Promise<void>
