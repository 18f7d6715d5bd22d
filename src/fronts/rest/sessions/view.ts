import type { EndReason, Session } from '../../../registry/sessions/session.ts'
import { chooseRoute, type RouteRecord } from '../../../wakes/rules/route-choice.ts'
import { type PresenceSource, type PresenceState, presenceOf } from '../../../words/presence.ts'
import type { ReceiptStep } from '../../../words/receipts.ts'
import type { HarnessTarget } from '../../../words/targets.ts'
import { instant, instantOrNull } from '../instant.ts'

/** The last reported presence of a harness, and its age. Source: S1-8. */
export interface PresenceView {
  /** `unknown` without a live session, and when the last word is stale. */
  readonly state: PresenceState
  readonly source: PresenceSource
  readonly activeTurnId?: string
  readonly asOf: string | null
  readonly ageMs: number | null
  /** When the session was last seen; null: there is none. */
  readonly lastSeenAt: string | null
  readonly capabilities: readonly string[]
}

/** A session as its agent and the operator see it. Instants are ISO 8601. */
export interface SessionView {
  readonly sessionId: string
  /** `@donna` */
  readonly agent: string
  readonly surface: string
  readonly capabilities: readonly string[]
  readonly pid?: number
  readonly startedAt?: string
  /** The harness's own words about its conversation. */
  readonly harness?: { readonly cwd?: string; readonly sessionId?: string }
  readonly status: 'live' | 'ended'
  readonly presence: PresenceView
  readonly lastSeenAt: string
  /** When its harness itself last did something; null: not yet. */
  readonly actedAt: string | null
  readonly createdAt: string
  readonly endedAt?: string
  readonly reason?: EndReason | null
  /** The session that took the agent's identity over. */
  readonly newMasterSession?: string
}

export function sessionView(session: Session, agentIdentity: string, now: number): SessionView {
  const { cwd, harnessSessionId: own } = session
  const { id, surface, capabilities, pid, processStartedAt, lastSeenAt, createdAt, endedAt } = session
  return {
    sessionId: id,
    agent: agentIdentity,
    surface,
    capabilities,
    ...(pid === null ? {} : { pid }),
    ...(processStartedAt === null ? {} : { startedAt: instant(processStartedAt) }),
    ...(cwd === null && own === null
      ? {}
      : { harness: { ...(cwd === null ? {} : { cwd }), ...(own === null ? {} : { sessionId: own }) } }),
    status: endedAt === null ? 'live' : 'ended',
    presence: presenceView(session, now),
    lastSeenAt: instant(lastSeenAt),
    actedAt: session.actedAt === 0 ? null : instant(session.actedAt),
    createdAt: instant(createdAt),
    ...(endedAt === null ? {} : { endedAt: instant(endedAt), reason: session.endReason }),
    ...(session.successorId === null ? {} : { newMasterSession: session.successorId }),
  }
}

/** The routes by which wakes may reach a session, and the preferred one. */
export interface RoutesView {
  readonly routes: readonly {
    readonly subscriptionId: string
    readonly harnessTarget: HarnessTarget
    readonly open: boolean
    /** The strongest step that its newest wakes have proved; null: none yet. */
    readonly proved: ReceiptStep | null
  }[]
  /** null: none is open, and mail comes with answers and at the next start. */
  readonly preferred: HarnessTarget | null
}

export function routesView(routes: readonly RouteRecord[]): RoutesView {
  return {
    routes: routes.map(({ subscriptionId, harnessTarget, isOpen: open, proved }) => ({
      subscriptionId,
      harnessTarget,
      open,
      proved,
    })),
    preferred: chooseRoute(routes)?.harnessTarget ?? null,
  }
}

export function presenceView(session: Session | undefined, now: number): PresenceView {
  const { state, source, activeTurnId, asOf } = presenceOf(session, now)
  return {
    state,
    source,
    ...(activeTurnId === null ? {} : { activeTurnId }),
    asOf: instantOrNull(asOf),
    ageMs: asOf === null ? null : Math.max(0, now - asOf),
    lastSeenAt: session ? instant(session.lastSeenAt) : null,
    capabilities: session?.capabilities ?? [],
  }
}
