export const presenceStates = ['unknown', 'idle', 'active', 'waitingOnApproval', 'userTyping'] as const
/** What a harness is doing. An input of routing, not a way to deliver. Source: S1-8. */
export type PresenceState = (typeof presenceStates)[number]

export const presenceSources = [
  'codex-app-server',
  'mcp-client',
  'a2a-webhook',
  'bridge-daemon',
  'os-ui-probe',
  'unknown',
] as const
/** Who says so. Source: S1-8. */
export type PresenceSource = (typeof presenceSources)[number]

/** What a harness is doing, by its own last word. */
export interface Presence {
  readonly state: PresenceState
  readonly source: PresenceSource
  /** Known while a turn runs, where the harness can name it. */
  readonly activeTurnId: string | null
  /** What the harness can do, as its session says: `turn/start`, `turn/steer`, `append-only`, `has-telegram`, … */
  readonly capabilities: readonly string[]
  /** When the state was told, ms since the epoch; null: never. */
  readonly asOf: number | null
}

/** What a session keeps of its harness's last word. */
export interface Told {
  readonly state: PresenceState
  readonly source: PresenceSource
  readonly activeTurnId: string | null
  readonly capabilities: readonly string[]
  /** ms since the epoch */
  readonly presenceAt: number | null
  readonly endedAt: number | null
}

/** Older words say nothing: a harness moves on without telling. */
export const presenceStaleMs = 2 * 60_000

/** The presence of whoever has this session, or none: `unknown` without a word, and when the last one is stale. Pure. Source: S1-9. */
export function presenceOf(session: Told | undefined, now: number): Presence {
  if (!session) return { state: 'unknown', source: 'unknown', activeTurnId: null, capabilities: [], asOf: null }
  const { state, source, activeTurnId, capabilities, presenceAt } = session
  const told = { source, capabilities, asOf: presenceAt }
  // The clock may have been set back since.
  const isFresh = presenceAt !== null && session.endedAt === null && Math.abs(now - presenceAt) <= presenceStaleMs
  return isFresh ? { ...told, state, activeTurnId } : { ...told, state: 'unknown', activeTurnId: null }
}
