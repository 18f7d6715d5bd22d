import { isoTime } from '../lib/iso-time.ts'
import type { JsonObject } from '../lib/json.ts'
import { type Facts, lifeOf } from '../turns/facts.ts'
import { presenceOf } from '../words/presence.ts'

/** How much a finding is worth: it was seen, it follows from silence, or nothing is known. */
type Grade = 'verified' | 'candidate' | 'unknown'

/** The state an agent may be in: gone without a session, or silent in one. Staleness is never called idleness. Source: S3-11. */
export interface Finding {
  readonly kind: 'sunset' | 'idle_out_candidate'
  readonly grade: Grade
  readonly evidence: readonly Seen[]
}

/** One thing that was seen: what, when (ISO 8601), and who said so. */
interface Seen {
  readonly what: string
  readonly at: string | null
  readonly by: string
}

/** Returns what the facts say of an agent: at most one finding. Pure. Source: S3-11. */
export function findingsOf(facts: Facts): Finding[] {
  const { session, former, now, gate } = facts
  if (session) {
    if (now - lifeOf(session) < gate.settings.staleAfterSeconds * 1_000) return []
    const isSeenIdle = presenceOf(session, now).state === 'idle'
    return [{ kind: 'idle_out_candidate', grade: isSeenIdle ? 'verified' : 'candidate', evidence: seenOf(facts) }]
  }
  if (!former) return [{ kind: 'sunset', grade: 'unknown', evidence: seenOf(facts) }]
  const said = former.endReason === 'ended' || former.endReason === 'closed'
  return [{ kind: 'sunset', grade: said ? 'verified' : 'candidate', evidence: seenOf(facts) }]
}

/** The facts behind a decision, for people and programs. Pure. */
export function evidenceOf(facts: Facts): JsonObject {
  const { reason, session, former, route, recovery } = facts
  return {
    seen: seenOf(facts).map((one) => ({ ...one })),
    unread: reason?.unread ?? 0,
    openTasks: reason?.openTasks ?? 0,
    oldestAt: reason ? isoTime(reason.oldestAt) : null,
    sessionId: session?.id ?? null,
    formerSessionId: former?.id ?? null,
    subscriptionId: route?.subscriptionId ?? null,
    isProven: route?.isProven ?? false,
    restart: recovery.bridge?.restart ?? 'none',
  }
}

function seenOf({ session, former, recovery, now }: Facts): Seen[] {
  const seen: Seen[] = []
  if (session) {
    const { state, source, asOf } = presenceOf(session, now)
    seen.push({ what: `session ${session.id} is live`, at: isoTime(session.lastSeenAt), by: 'session' })
    if (session.actedAt > 0) seen.push({ what: 'last act of the harness', at: isoTime(session.actedAt), by: 'session' })
    seen.push({ what: `presence ${state}`, at: asOf === null ? null : isoTime(asOf), by: source })
  } else if (former) {
    const at = former.endedAt === null ? null : isoTime(former.endedAt)
    seen.push({ what: `session ${former.id} ended: ${former.endReason}`, at, by: 'session' })
  }
  const { bridge, bridgeAt } = recovery
  if (bridge && bridgeAt !== null) {
    const what = bridge.seen
      ? 'a conversation is open'
      : bridge.process
        ? 'its process runs'
        : 'no conversation is open'
    seen.push({ what, at: isoTime(bridgeAt), by: 'bridge' })
  }
  return seen
}
