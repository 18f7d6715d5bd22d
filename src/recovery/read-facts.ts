import type { Gate } from '../registry/recovery/gate.ts'
import { readGates } from '../registry/recovery/gate-store.ts'
import { findRecovery } from '../registry/recovery/recovery-store.ts'
import { newestLiveSession, pageEndedSessions } from '../registry/sessions/session-lists.ts'
import type { Reader } from '../storage/database.ts'
import type { Facts, NudgeRoute, Trouble } from '../turns/facts.ts'
import { findReachedCap } from '../turns/turn-store.ts'
import { readRoutes } from '../wakes/read/routes.ts'
import { isProof, type RouteRecord } from '../wakes/rules/route-choice.ts'
import { isArrival } from '../words/receipts.ts'
import type { Candidate } from './candidates.ts'
import type { RecoveryContext } from './context.ts'

/** How many ended sessions are looked at while an act is in flight. */
const endedMax = 20

/** Reads everything that a decision about an agent looks at. */
export async function readFacts(
  { findReason }: Pick<RecoveryContext, 'findReason'>,
  db: Reader,
  { id, projectId }: Pick<Candidate, 'id' | 'projectId'>,
  {
    now,
    trouble,
    staleRounds,
  }: { readonly now: number; readonly trouble: Trouble | null; readonly staleRounds: number },
): Promise<Facts & { readonly agentGate: Gate | undefined }> {
  const [reason, recovery, gates, session] = await Promise.all([
    findReason(db, id),
    findRecovery(db, id, projectId),
    readGates(db, projectId, id),
    newestLiveSession(db, id),
  ])
  // While an act is in flight, what it started may have ended already.
  const limit = recovery.inFlight ? endedMax : 1
  const [ended, routes] = await Promise.all([
    pageEndedSessions(db, { agentId: id }, { before: '', limit }),
    openRoutes(db, { id: session?.id ?? '', agentId: id }),
  ])
  const [former = null, ...earlier] = ended.items
  const sessions = { session: session ?? null, former, earlier }
  const { settings } = gates.effective
  const cap = await findReachedCap(db, id, settings, now)
  return {
    now,
    cap,
    trouble,
    staleRounds,
    reason,
    recovery,
    gate: gates.effective,
    agentGate: gates.agent,
    route: routes[0] ?? null,
    wokenAt: Math.max(0, ...routes.map(({ provedAt }) => provedAt ?? 0)) || null,
    ...sessions,
  }
}

/** The open ways into a session, the one first that has proved the most. A webhook and a notification differ: see `isProven`. */
async function openRoutes(
  db: Reader,
  session: { readonly id: string; readonly agentId: string },
): Promise<NudgeRoute[]> {
  const open = (await readRoutes(db, session)).filter(({ isOpen, trigger }) => isOpen && trigger === 'SENT_TO_ME')
  return open
    .map(({ subscriptionId, harnessTarget, proved, provedAt }) => {
      return { subscriptionId, harnessTarget, provedAt, isProven: isProven({ harnessTarget, proved }) }
    })
    .sort((a, b) => Number(b.isProven) - Number(a.isProven))
}

/**
 * True: a route has proved that it reaches the harness: a receiver has taken a wake, the reader of a stream has its harness's word, and a
 * notification has begun a turn, because most harnesses ignore it. Pure. Source: S1-42, D14.
 */
export function isProven({ harnessTarget, proved }: Pick<RouteRecord, 'harnessTarget' | 'proved'>): boolean {
  if (harnessTarget === 'mcp-notifications') return isProof(proved)
  return isArrival(proved)
}
