import type { Session } from '../registry/sessions/session.ts'
import { pageEndedSessions } from '../registry/sessions/session-lists.ts'
import type { Transaction } from '../storage/database.ts'
import { isBegunByWake } from '../wakes/rules/begun-by-wake.ts'
import { announceWaitingTo } from '../wakes/store/announce-waiting.ts'
import { arrivalsAround } from '../wakes/store/arrivals.ts'
import type { SessionContext } from './context.ts'

/**
 * Makes the subscriptions of an agent whose session has started send one digest of what waits. Not to receivers whose wake has begun the
 * session: see `isBegunByWake`. `live`: the session that was live before. Source: D29.
 */
export async function announceWhatWaits(
  { changed, hasWaiting }: SessionContext,
  tx: Transaction,
  session: Session,
  live: Session | undefined,
): Promise<void> {
  const { id, agentId } = session
  if (!(await hasWaiting(tx, agentId))) return
  const former = live && live.id !== id ? live : await newestEnded(tx, session)
  const isBegun = await isBegunByWake(session, former, (instant) => arrivalsAround(tx, agentId, instant))
  const announcing = await announceWaitingTo(tx, agentId, { isBegunByWake: isBegun })
  tx.onCommit(() => announcing.forEach(changed))
}

async function newestEnded(tx: Transaction, { id, agentId }: Session): Promise<Session | undefined> {
  const { items } = await pageEndedSessions(tx, { agentId }, { before: '', limit: 2 })
  return items.find((one) => one.id !== id)
}
