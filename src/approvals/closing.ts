import { Problem } from '../errors.ts'
import { isoTime } from '../lib/iso-time.ts'
import type { Sweep } from '../lib/sweeper.ts'
import type { Core } from '../log/core.ts'
import { type NewEvent, operatorAudience } from '../log/event.ts'
import { GrowthSignal } from '../log/growth-signal.ts'
import type { LogNotifier } from '../log/log-notifier.ts'
import { gatewayIdentity } from '../registry/agents/identity.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { Transaction } from '../storage/database.ts'
import { type Approval, type ApprovalState, stateAt } from './approval.ts'
import { closeApproval, type Ending, findApproval, listOverdue } from './approval-store.ts'

export interface ApprovalContext extends Core {
  readonly notifier: LogNotifier
}

function closedEvent(
  { id: approvalId, agentId, state, answer, decidedBy }: Approval,
  by: Pick<NewEvent, 'actor' | 'actorId'>,
): NewEvent {
  const said = answer === null ? {} : { answer, by: decidedBy }
  return { type: 'approval.closed', ...by, audience: [operatorAudience, agentId], data: { approvalId, state, ...said } }
}

/** Waits until an approval is open no more, without polling. Returns it at that time, or at the time-out or the abort. Errors: `not-found`. */
export async function waitForApproval(
  { db, clock, notifier }: ApprovalContext,
  found: Approval,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<Approval> {
  const endsAt = Math.min(clock.now() + timeoutMs, found.expiresAt)
  const growth = new GrowthSignal(notifier, found.agentId, found.projectId)
  const cancel = clock.after(endsAt - clock.now(), growth.close)
  signal.addEventListener('abort', growth.close)
  try {
    for (;;) {
      const now = await findApproval(db, found.id)
      // Its agent was removed.
      if (!now) throw new Problem('not-found', { detail: 'There is no such approval.' })
      if (stateAt(now, clock.now()) !== 'open' || signal.aborted || clock.now() >= endsAt) return now
      await growth.next()
    }
  } finally {
    signal.removeEventListener('abort', growth.close)
    cancel()
    growth.close()
  }
}

const everyMs = 5_000
const expiredAtOnce = 100

/** Closes approvals whose time is over. Nothing is decided by it. */
export function approvalSweep(context: ApprovalContext): Sweep {
  const { db, clock } = context
  return {
    name: 'approvals',
    everyMs,
    async run() {
      const overdue = await listOverdue(db, clock.now(), expiredAtOnce)
      if (overdue.length === 0) return false
      await db.transaction(async (tx) => {
        for (const one of overdue) {
          const ended = await closeApproval(tx, one.id, { state: 'expired' })
          if (ended) await context.append(tx, ended.projectId, [closedEvent(ended, { actor: gatewayIdentity })])
        }
      })
      return overdue.length === expiredAtOnce
    },
  }
}

/** Closes an open approval, and writes that into the log. Errors: `approval-answered` where somebody was first. */
export async function end(
  context: ApprovalContext,
  tx: Transaction,
  found: Approval,
  caller: Caller,
  ending: Ending,
): Promise<Approval> {
  const ended = await closeApproval(tx, found.id, ending)
  // Somebody else was first.
  if (!ended) throw closed((await findApproval(tx, found.id)) ?? found, tx.now)
  await context.append(tx, ended.projectId, [closedEvent(ended, { actor: caller.identity, actorId: caller.id })])
  return ended
}

/** The words for an approval that is not open: who has answered, or what has happened. */
export function closed(approval: Approval, now: number): Problem {
  const { answer, decidedBy, closedAt, expiresAt } = approval
  const state = stateAt(approval, now)
  const at = isoTime(closedAt ?? expiresAt)
  const ends: Readonly<Record<ApprovalState, string>> = {
    open: 'It has just been asked again.',
    expired: `It expired at ${at}. The harness still asks there.`,
    answered: `${decidedBy} answered "${answer}" at ${at}.`,
    answered_there: `It was answered in the harness at ${at}.`,
    withdrawn: `The harness took it back at ${at}.`,
  }
  const decision = answer === null ? {} : { answer, by: decidedBy }
  return new Problem('approval-answered', { detail: ends[state], extra: { state, ...decision, at } })
}
