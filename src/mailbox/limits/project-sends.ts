import type { Clock } from '../../lib/clock.ts'
import { type Allowance, RateMeter } from '../../lib/rate-meter.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import { usedUp } from '../../registry/shares/refusals.ts'
import { allowanceOf, windowMsOf } from '../../share-limits.ts'
import type { Transaction } from '../../storage/database.ts'
import { type MailLimits, messagesOf, perMinuteForProject } from './mail-limits.ts'
import type { Refusal } from './refusals.ts'

const name = 'projectMessagesPerMinute'

type Limits = Pick<MailLimits, 'perMinute'>

/**
 * Counts the mail and the A2A messages of each project's agents, in memory, on this gateway: a check costs no query, and a row of a project
 * would be locked by all of its senders. A message counts once it is sent, so messages that are sent at the same moment may be more than
 * the rate has; they are a debt, which comes back first.
 */
export class ProjectSends {
  readonly #clock: Clock
  readonly #meter = new RateMeter({ windowMs: windowMsOf(name) })

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Returns why an agent may not send another message now: `rate-limited`. undefined: it may. Counts nothing, and has no event. */
  refuse(caller: Caller, limits: Limits): Refusal | undefined {
    const allowance = allowanceFor(caller, limits)
    if (!allowance) return undefined
    const waitMs = this.#meter.waitMs(caller.projectId, allowance, this.#clock.now())
    if (waitMs === 0) return undefined
    return { problem: usedUp(caller, name, perMinuteForProject(caller, limits), waitMs), event: undefined }
  }

  /** Counts a message of an agent: to more than 50 agents, as several. */
  count(caller: Caller, limits: Limits, recipients = 1): void {
    const allowance = allowanceFor(caller, limits)
    if (allowance) this.#meter.charge(caller.projectId, messagesOf(recipients), allowance, this.#clock.now())
  }

  /** The same, once the message is stored. */
  countOnCommit(tx: Transaction, caller: Caller, limits: Limits, recipients = 1): void {
    tx.onCommit(() => this.count(caller, limits, recipients))
  }
}

/** undefined: no limit. */
function allowanceFor(caller: Caller, limits: Limits): Allowance | undefined {
  const perMinute = caller.kind === 'operator' ? 0 : perMinuteForProject(caller, limits)
  return perMinute === 0 ? undefined : allowanceOf(name, perMinute)
}
