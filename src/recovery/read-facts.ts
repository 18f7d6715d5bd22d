import type { Gate } from '../registry/recovery/gate.ts'
import { readGates } from '../registry/recovery/gate-store.ts'
import { findRecovery } from '../registry/recovery/recovery-store.ts'
import { newestLiveSession, pageEndedSessions } from '../registry/sessions/session-lists.ts'
import type { Reader } from '../storage/database.ts'
import { readRoutes } from '../wakes/read/routes.ts'
import { isProof, type RouteRecord } from '../wakes/rules/route-choice.ts'
import { isArrival } from '../words/receipts.ts'
import type { Candidate } from './candidates.ts'
import type { RecoveryContext } from './context.ts'
import type { Facts, NudgeRoute, Trouble } from './facts.ts'

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
  const [reason, recovery, gates, session, ended] = await Promise.all([
    findReason(db, id),
    findRecovery(db, id, projectId),
    readGates(db, projectId, id),
    newestLiveSession(db, id),
    pageEndedSessions(db, { agentId: id }, { before: '', limit: 1 }),
  ])
  const route = await strongestRoute(db, { id: session?.id ?? '', agentId: id })
  const former = ended.items[0] ?? null
  const sessions = { session: session ?? null, former }
  return {
    now,
    trouble,
    staleRounds,
    reason,
    recovery,
    gate: gates.effective,
    agentGate: gates.agent,
    route,
    ...sessions,
  }
}

/** The open way into a session that has proved the most. A webhook and a notification differ: see `isProven`. */
async function strongestRoute(
  db: Reader,
  session: { readonly id: string; readonly agentId: string },
): Promise<NudgeRoute | null> {
  const open = (await readRoutes(db, session)).filter(({ isOpen, trigger }) => isOpen && trigger === 'SENT_TO_ME')
  const [best] = open.sort((a, b) => Number(isProven(b)) - Number(isProven(a)))
  if (!best) return null
  const { subscriptionId, harnessTarget, provedAt } = best
  return { subscriptionId, harnessTarget, provedAt, isProven: isProven(best) }
}

/**
 * True: a route has proved that it reaches the harness: a receiver has taken a wake, the reader of a stream has its harness's word, and a
 * notification has begun a turn, because most harnesses ignore it. Pure. Source: S1-42, D14.
 */
export function isProven({ harnessTarget, proved }: Pick<RouteRecord, 'harnessTarget' | 'proved'>): boolean {
  if (harnessTarget === 'mcp-notifications') return isProof(proved)
  return isArrival(proved)
}
