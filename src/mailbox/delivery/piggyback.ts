import type { PendingSignal } from '../../words/mail.ts'
import type { LiveSession, MailContext } from '../context.ts'
import { deliverWaiting, withinCharacters } from './deliver-waiting.ts'
import { type DeliveryStrategy, strategyOf } from './strategies.ts'
import { hasWaiting, readWaiting, type WaitingMail } from './waiting-store.ts'
import { readWakeRoutes, wakeDeadline } from './wake-route.ts'

/** The most that one answer carries. The rest comes with the next one. */
const answerMax = { messages: 50, characters: 256_000 }
/** Characters of waiting mail that are read to fill one answer. */
const readMax = 2_000_000
/** The same, to see whether any of it is urgent. */
const lookMax = 256_000

/**
 * Takes the waiting mail that goes along with the answer to an agent's call, and marks it as delivered: each message once,
 * however many calls race. Returns nothing without a live session: then mail waits for the next start. Source: S2-14.
 */
export async function takePiggyback(context: MailContext, agentId: string): Promise<PendingSignal[]> {
  const found = await findWaiting(context, agentId, readMax)
  if (!found) return []
  return context.db.transaction((tx) => {
    const due = found.mails.filter(({ wakeBy, mail }) => mayTake(found, mail, wakeBy, tx.now)).map(({ mail }) => mail)
    return deliverWaiting(tx, agentId, withinCharacters(due, answerMax.characters), 'piggyback', found.session.id)
  })
}

/**
 * In how many ms mail that wakes an agent may go along with an answer: 0: now; undefined: no such mail waits. Mail for the next turn
 * does not count: it comes with whatever is answered next. @param now ms since the epoch
 */
export async function urgentIn(context: MailContext, agentId: string, now: number): Promise<number | undefined> {
  const found = await findWaiting(context, agentId, lookMax)
  if (!found) return undefined
  // Mail that no longer fits into the answer is not read.
  if (found.mails.length === answerMax.messages) return 0
  const times = found.mails
    .filter(({ mail }) => mail.wakePolicy === 'immediate')
    .map(({ mail, wakeBy }) => (mayTake(found, mail, wakeBy, now) ? 0 : Math.max(1, (wakeBy ?? now) - now)))
  return times.length === 0 ? undefined : Math.min(...times)
}

interface SessionMail {
  readonly session: LiveSession
  readonly strategy: DeliveryStrategy
  readonly mails: readonly { readonly mail: WaitingMail; readonly wakeBy: number | undefined }[]
}

/** The mail that waits for an agent with a live session. undefined: none. */
async function findWaiting(
  { db, strategies, findSession }: MailContext,
  agentId: string,
  characters: number,
): Promise<SessionMail | undefined> {
  if (!(await hasWaiting(db, agentId))) return undefined
  const session = await findSession(db, agentId)
  if (!session) return undefined
  const strategy = strategyOf(strategies, session.surface)
  const waiting = await readWaiting(db, agentId, { messages: answerMax.messages, characters })
  const routes = strategy.usesWakes ? await readWakeRoutes(db, agentId) : []
  return { session, strategy, mails: waiting.map((mail) => ({ mail, wakeBy: wakeDeadline(routes, mail) })) }
}

function mayTake({ strategy }: SessionMail, mail: WaitingMail, wakeBy: number | undefined, now: number): boolean {
  const { wakePolicy, createdAt } = mail
  return strategy.mayPiggyback({ wakePolicy, createdAt, wakeBy, now })
}
