import { Problem } from '../errors.ts'
import { identityOf } from '../registry/agents/agents.ts'
import type { Database, Reader, Transaction } from '../storage/database.ts'
import { type PendingSignal, pendingSignal } from './pending-signal.ts'
import { pushedBy, readPushRoutes } from './push-route.ts'
import { type Strategies, strategyOf } from './strategies.ts'
import { handOverOnce, hasWaiting, readWaiting, takeBackOne, type WaitingMail } from './waiting-store.ts'

/** A live session, as far as mail is concerned. */
export interface LiveSession {
  readonly id: string
  readonly surface: string
}

/** Finds the session that speaks for an agent, if one lives. */
export type FindSession = (reader: Reader, agentId: string) => Promise<LiveSession | undefined>

export interface HandOutContext {
  readonly db: Database
  readonly findSession: FindSession
  readonly strategies: Strategies
}

/** What one answer carries at the most, in messages and in characters of what they say. The rest comes with the next. */
const answerMax = { messages: 50, characters: 256_000 }
const drainMax = { messages: 500, characters: 2_000_000 }

/**
 * What goes along with an answer to an agent's own call, marked as handed over by it: each message once, however many calls
 * race. Nothing without a live session: then it waits for the next start. Source: S2-14.
 */
export async function handOut(context: HandOutContext, agentId: string): Promise<PendingSignal[]> {
  const { db, strategies } = context
  if (!(await hasWaiting(db, agentId))) return []
  const session = await context.findSession(db, agentId)
  if (!session) return []
  const strategy = strategyOf(strategies, session.surface)
  const waiting = await readWaiting(db, agentId, { ...drainMax, messages: answerMax.messages })
  const routes = strategy.supportsPush ? await readPushRoutes(db, agentId) : []
  return db.transaction((tx) => {
    const due = waiting.filter((mail) => {
      const { wakePolicy, createdAt } = mail
      return strategy.deliver({ wakePolicy, createdAt, pushedBy: pushedBy(routes, mail), now: tx.now })
    })
    return handOverAll(tx, agentId, within(due, answerMax.characters), 'piggyback', session.id)
  })
}

/**
 * Everything that waits for an agent, marked as handed over at the start of a session: oldest first, each message once, however
 * many sessions start at once. Joins the transaction that starts the session. Source: S2-11.
 */
export async function drain(tx: Transaction, agentId: string, sessionId: string): Promise<PendingSignal[]> {
  const waiting = await readWaiting(tx, agentId, drainMax)
  return handOverAll(tx, agentId, within(waiting, drainMax.characters), 'startup_drain', sessionId)
}

/** Lets what was handed over in an answer wait again: the connection broke before the answer was written. */
export async function takeBack(db: Database, agentId: string, messageIds: readonly string[]): Promise<void> {
  try {
    await db.transaction(async (tx) => {
      for (const messageId of messageIds) await takeBackOne(tx, agentId, messageId)
    })
  } catch (error) {
    // The gateway stops, or the store refuses: it stays unread in the inbox.
    if (!(error instanceof Problem)) throw error
  }
}

async function handOverAll(
  tx: Transaction,
  agentId: string,
  mails: readonly WaitingMail[],
  method: 'piggyback' | 'startup_drain',
  sessionId: string,
): Promise<PendingSignal[]> {
  const handed: PendingSignal[] = []
  if (mails.length === 0) return handed
  const identity = await identityOf(tx, agentId)
  for (const mail of mails) {
    if (await handOverOnce(tx, agentId, mail.id, method, sessionId)) handed.push(pendingSignal(mail, identity, tx.now))
  }
  return handed
}

/** The first of them that say so much together; one that is larger by itself goes alone. */
function within(mails: readonly WaitingMail[], charactersMax: number): WaitingMail[] {
  let left = charactersMax
  return mails.filter((mail, index) => {
    left -= (mail.body?.length ?? 0) + (mail.payload === null ? 0 : JSON.stringify(mail.payload).length)
    return index === 0 || left >= 0
  })
}
