import type { Usage } from '../admission/usage.ts'
import type { Core } from '../log/core.ts'
import type { LogNotifier } from '../log/log-notifier.ts'
import type { RepeatedRequests } from '../registry/idempotency.ts'
import type { SendLimits } from '../registry/mail/send-limits.ts'
import type { Reader } from '../storage/database.ts'
import type { Strategies } from './delivery/strategies.ts'
import type { MailLimits } from './limits/mail-limits.ts'

export interface MailContext extends Core {
  readonly notifier: LogNotifier
  readonly limits: MailLimits
  readonly sends: SendLimits
  /** Counts what agents and projects have stored. */
  readonly usage: Pick<Usage, 'requireRoom' | 'add'>
  readonly repeats: RepeatedRequests
  readonly findSession: FindSession
  /** Which route each surface's mail may take. */
  readonly strategies: Strategies
}

/** The part of a live session that decides how mail reaches its agent. */
export interface LiveSession {
  readonly id: string
  readonly surface: string
}

/** Returns the live session that speaks for an agent, if there is one. */
type FindSession = (reader: Reader, agentId: string) => Promise<LiveSession | undefined>
