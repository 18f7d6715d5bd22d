import type { Database } from '../../storage/database.ts'
import { deliverWaiting, withinCharacters } from './deliver-waiting.ts'
import type { FindSession } from './live-session.ts'
import type { PendingSignal } from './pending-signal.ts'
import { type Strategies, strategyOf } from './strategies.ts'
import { hasWaiting, readWaiting } from './waiting-store.ts'
import { readWakeRoutes, wakeDeadline } from './wake-route.ts'

export interface PiggybackContext {
  readonly db: Database
  readonly findSession: FindSession
  readonly strategies: Strategies
}

/** The most that one answer carries. The rest comes with the next one. */
const answerMax = { messages: 50, characters: 256_000 }
/** Characters of waiting mail that are read to fill one answer. */
const readMax = 2_000_000

/**
 * Takes the waiting mail that goes along with the answer to an agent's call, and marks it as delivered: each message once,
 * however many calls race. Returns nothing without a live session: then mail waits for the next start. Source: S2-14.
 */
export async function takePiggyback(context: PiggybackContext, agentId: string): Promise<PendingSignal[]> {
  const { db, strategies } = context
  if (!(await hasWaiting(db, agentId))) return []
  const session = await context.findSession(db, agentId)
  if (!session) return []
  const strategy = strategyOf(strategies, session.surface)
  const waiting = await readWaiting(db, agentId, { messages: answerMax.messages, characters: readMax })
  const routes = strategy.usesWakes ? await readWakeRoutes(db, agentId) : []
  return db.transaction((tx) => {
    const due = waiting.filter((mail) => {
      const { wakePolicy, createdAt } = mail
      return strategy.mayPiggyback({ wakePolicy, createdAt, wakeBy: wakeDeadline(routes, mail), now: tx.now })
    })
    return deliverWaiting(tx, agentId, withinCharacters(due, answerMax.characters), 'piggyback', session.id)
  })
}
