import { Problem } from '../errors.ts'
import type { Sweep } from '../lib/sweeper.ts'
import type { Core } from '../log/core.ts'
import { type NewEvent, operatorAudience } from '../log/event.ts'
import { GrowthSignal } from '../log/growth-signal.ts'
import type { LogNotifier } from '../log/log-notifier.ts'
import { gatewayIdentity } from '../registry/agents/identity.ts'
import { type Approval, stateAt } from './approval.ts'
import { closeApproval, findApproval, listOverdue } from './approval-store.ts'

export interface ApprovalContext extends Core {
  readonly notifier: LogNotifier
}

export function closedEvent(
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
