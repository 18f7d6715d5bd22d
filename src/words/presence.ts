export const presenceStates = ['unknown', 'idle', 'active', 'waitingOnApproval', 'userTyping'] as const
/** The activity of a harness. An input of routing, not a route. Source: S1-8. */
export type PresenceState = (typeof presenceStates)[number]

export const presenceSources = [
  'codex-app-server',
  'mcp-client',
  'a2a-webhook',
  'bridge-daemon',
  'os-ui-probe',
  'unknown',
] as const
/** The reporter of the presence. Source: S1-8. */
export type PresenceSource = (typeof presenceSources)[number]

/** The activity of a harness, according to its last report. */
export interface Presence {
  readonly state: PresenceState
  readonly source: PresenceSource
  /** The id of the running turn, if the harness reports it. */
  readonly activeTurnId: string | null
  /** The capabilities of the harness, as its session reports them: `turn/start`, `turn/steer`, `append-only`, `has-telegram`, … */
  readonly capabilities: readonly string[]
  /** When the state was reported, ms since the epoch; null: never. */
  readonly asOf: number | null
}

/** The stored part of the last report. */
interface ReportedPresence {
  readonly state: PresenceState
  readonly source: PresenceSource
  readonly activeTurnId: string | null
  readonly capabilities: readonly string[]
  /** ms since the epoch */
  readonly presenceAt: number | null
  readonly endedAt: number | null
}

/**
 * True when a report that comes with a sign of life replaces the last one. A client of tools sees the calls of a harness and nothing else
 * of it, so its report gives way to any other: of a hook, a bridge, a person. Pure. Source: S1-8, D12.
 */
export function replacesReport(source: PresenceSource, last: Pick<ReportedPresence, 'source' | 'presenceAt'>): boolean {
  return source !== 'mcp-client' || last.presenceAt === null || last.source === 'mcp-client'
}

/** Older reports are ignored: a harness does not report every change. */
export const presenceStaleMs = 2 * 60_000

/** Returns the presence of an agent with this session, or without one: `unknown` without a report, or if the last one is too old. Pure. Source: S1-9. */
export function presenceOf(session: ReportedPresence | undefined, now: number): Presence {
  if (!session) return { state: 'unknown', source: 'unknown', activeTurnId: null, capabilities: [], asOf: null }
  const { state, source, activeTurnId, capabilities, presenceAt } = session
  const report = { source, capabilities, asOf: presenceAt }
  // The clock may have been set back since the report.
  const isFresh = presenceAt !== null && session.endedAt === null && Math.abs(now - presenceAt) <= presenceStaleMs
  return isFresh ? { state, activeTurnId, ...report } : { state: 'unknown', activeTurnId: null, ...report }
}
