import type { Profile } from '../../client/profile-file.ts'
import type { Trigger } from '../../words/events.ts'
import type { AdapterId } from '../adapter.ts'
import type { TurnLimits } from '../guards/guard.ts'
import type { Recipe } from '../restart/recipe.ts'

/** The permissions that the user gives a bridge. */
export interface BridgeConfig {
  /** The file that it was read from. */
  readonly path: string
  readonly agents: readonly BridgedAgent[]
  /** The settings of each adapter, as its row describes them. */
  readonly adapters: Readonly<Partial<Record<AdapterId, Readonly<Record<string, unknown>>>>>
  readonly maxTurnsAMinute: number
  /** How long a wake may wait in the queue of its harness before it is given up. */
  readonly harnessWaitMinutes: number
}

/** One agent, and where its wakes may go. */
export interface BridgedAgent extends Omit<TurnLimits, 'maxTurnsAMinute'> {
  readonly profile: Profile & { readonly name: string }
  /** The preferred one first. */
  readonly harnesses: readonly AdapterId[]
  /** Absolute, with symbolic links resolved. What is below one of them is allowed too. */
  readonly directories: readonly string[]
  readonly triggers: readonly Trigger[]
  /** A person may answer from elsewhere what its harnesses ask their user. */
  readonly approvals?: true
  /** How its harness is started when its session is gone; absent: it is not. */
  readonly restart?: Recipe
}

/** Where nothing else is said. */
export const bridgeDefaults = {
  triggers: ['SENT_TO_ME', 'TASK_STATE_CHANGED'],
  turnsAnHour: 30,
  wakesFromOneAgentAnHour: 20,
  maxTurnsAMinute: 20,
  harnessWaitMinutes: 240,
} as const satisfies Partial<BridgedAgent & BridgeConfig>

/** The name of an agent in the journal: two gateways may have one of the same handle. */
export function agentKey({ profile }: { readonly profile: Omit<BridgedAgent['profile'], 'key'> }): string {
  return `${profile.identity} ${profile.project === undefined ? '' : `${profile.project} `}${profile.url}`
}
