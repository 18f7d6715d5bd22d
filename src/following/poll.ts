import { sleep } from '../lib/clock.ts'
import { readUrgent, recordWakes } from '../mailbox/delivery/waiting-store.ts'
import { lockAgent } from '../registry/agents/agent-store.ts'
import { nameOfParty, partyOf } from '../registry/agents/party.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { deliverToFollower, type Follower, holdFollower, letFollowerGo } from '../registry/followers/follower-store.ts'
import { readGates } from '../registry/recovery/gate-store.ts'
import { findRecovery } from '../registry/recovery/recovery-store.ts'
import { newestLiveSession } from '../registry/sessions/session-lists.ts'
import { seeSession } from '../registry/sessions/session-store.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { waitForTask } from '../tasks/follow-task.ts'
import { isSettled } from '../tasks/state.ts'
import { findTask } from '../tasks/task-store.ts'
import { mayStart } from '../turns/may-start.ts'
import { newTurn, withheldTurn } from '../turns/turn.ts'
import { findReachedCap, insertTurn, insertWithheldTurn } from '../turns/turn-store.ts'
import type { TaskState } from '../words/task-states.ts'
import { type FollowingContext, requireFollower } from './follow.ts'
import { type FollowedStatus, nextPollMs, statusOf } from './view.ts'

/** The route of a turn that the end of an MCP task begins, in the account of turns. */
const route = 'mcp-tasks'
/** A sign of life is written only if the last written one is this old, in ms. */
const seenAgainMs = 15_000
/** The most messages that one end is about. */
const mailMax = 100
/** The most senders that are noted of a turn. */
const sendersMax = 20

/** A follower, and the state of what it follows. */
export interface Followed {
  readonly follower: Follower
  readonly status: FollowedStatus
  /** The state of the task that it follows; null: it waits for mail. */
  readonly state: TaskState | null
}

interface Hold {
  /** The longest time for which the poll is held, in ms. 0: it is answered at once. */
  readonly timeoutMs: number
  /** Aborts when the poll is to be answered as things are. */
  readonly signal: AbortSignal
  /** Aborts when nobody waits for the answer any more. */
  readonly gone: AbortSignal
}

/**
 * Answers a poll of a follower: at once where there is an end, otherwise when the task that it follows ends or asks, when mail comes, or when the
 * time is over. The first answer with the end counts as the delivery of a wake, and the door for turns is asked before it. A poll is a sign of
 * life of the session, and no act. Errors: `not-found`. Source: SEP-2663, tasks/get.
 */
export async function pollFollower(
  context: FollowingContext,
  caller: Caller,
  id: string,
  { timeoutMs, signal, gone }: Hold,
): Promise<Followed> {
  const { clock } = context
  const endsAt = clock.now() + timeoutMs
  const held = await hold(context, caller, id, timeoutMs)
  try {
    for (;;) {
      // Nothing is delivered to a client that is gone.
      const looked: Looked = await (gone.aborted ? readFollowed(context.db, caller, id) : look(context, caller, id))
      const { until, ...followed } = looked
      const leftMs = endsAt - clock.now()
      if (followed.status !== 'working' || leftMs <= 0 || signal.aborted) return followed
      await (until === undefined
        ? untilThere(context, followed.follower, { timeoutMs: leftMs, signal })
        : sleep(clock, Math.min(leftMs, Math.max(1_000, until - clock.now())), signal))
    }
  } finally {
    if (gone.aborted) await context.db.transaction((tx) => letFollowerGo(tx, id, held.polledAt))
  }
}

/** Notes the poll, and the session that it is a sign of life of. */
function hold({ db }: FollowingContext, caller: Caller, id: string, timeoutMs: number): Promise<Follower> {
  return db.transaction(async (tx) => {
    const follower = await requireFollower(tx, caller, id)
    const session = await newestLiveSession(tx, caller.id)
    await holdFollower(tx, id, { sessionId: session?.id ?? null, until: tx.now + timeoutMs + nextPollMs })
    if (session) await seeSession(tx, session.id, seenAgainMs)
    return { ...follower, polledAt: tx.now }
  })
}

function untilThere(
  context: FollowingContext,
  { taskId, agentId: id, projectId }: Follower,
  wait: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<unknown> {
  if (taskId === null) return context.followerWaits.untilMail({ id, projectId }, wait)
  return waitForTask(context, taskId, { isDone: isSettled, ...wait })
}

/** `until`: there is an end, and a rule is against a turn; it may be different from then on, ms since the epoch. */
type Looked = Followed & { readonly until?: number }

/** Delivers the end, if there is one, and books the turn that it begins. Two polls at the same time are one delivery, and both have the end. */
async function look(context: FollowingContext, caller: Caller, id: string): Promise<Looked> {
  const isTold = ({ follower, status }: Followed): boolean => status !== 'completed' || follower.deliveredAt !== null
  const found = await readFollowed(context.db, caller, id)
  if (isTold(found)) return found
  return context.db.transaction(async (tx) => {
    await lockAgent(tx, caller.id)
    const followed = await readFollowed(tx, caller, id)
    return isTold(followed) ? followed : deliver(tx, caller, followed)
  })
}

/** Returns the state of what is followed, and delivers nothing. Errors: `not-found`. */
export async function readFollowed(db: Reader, caller: Caller, id: string): Promise<Followed> {
  const follower = await requireFollower(db, caller, id)
  if (follower.taskId === null) {
    const isThere = (await readUrgent(db, caller.id, 1)).length > 0
    return { follower, status: statusOf(follower, isThere), state: null }
  }
  const { state } = (await findTask(db, follower.taskId))!
  return { follower, status: statusOf(follower, isSettled(state)), state }
}

async function deliver(tx: Transaction, { id: agentId, projectId }: Caller, followed: Followed): Promise<Looked> {
  const { id, taskId } = followed.follower
  const mail = taskId === null ? await readUrgent(tx, agentId, mailMax) : []
  const senderIds = taskId === null ? mail.map(({ senderId }) => senderId) : [(await findTask(tx, taskId))!.assigneeId]
  const ids = [...new Set(senderIds)].filter((id) => id !== null).slice(0, sendersMax)
  const parties = await Promise.all(ids.map((id) => partyOf(tx, id)))
  const senders = parties.map((party) => nameOfParty(party, projectId))
  const turn = {
    projectId,
    agentId,
    act: 'wake',
    route,
    senders,
    threadId: taskId ?? mail[0]?.threadId ?? null,
  } as const
  const recovery = await findRecovery(tx, agentId, projectId)
  const { effective: gate } = await readGates(tx, projectId, agentId)
  const cap = await findReachedCap(tx, agentId, gate.settings, tx.now, turn)
  const verdict = mayStart('wake', { now: tx.now, recovery, cap })
  if (verdict.answer !== 'start') {
    if (cap && verdict.rule === 'turn_cap') await insertWithheldTurn(tx, withheldTurn(turn, cap, tx.now))
    return { ...followed, status: 'working', until: verdict.until ?? Number.MAX_SAFE_INTEGER }
  }
  await deliverToFollower(tx, id)
  const messages = mail.map(({ id: messageId }) => ({ agentId, messageId }))
  await recordWakes(tx, messages)
  await insertTurn(tx, { ...newTurn(turn, tx.now), outcome: 'unknown' })
  return { ...followed, follower: { ...followed.follower, deliveredAt: tx.now } }
}
