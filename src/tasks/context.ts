import type { Core } from '../core.ts'
import type { LogNotifier } from '../log/log-notifier.ts'
import type { Agent } from '../registry/agents/agent.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { RepeatedRequests } from '../registry/idempotency.ts'
import type { RecordTaskMail } from '../registry/mail/task-mail.ts'
import type { Usage } from '../registry/shares/usage.ts'

export interface TaskContext extends Core {
  readonly notifier: LogNotifier
  /** Puts a message into the mailbox within the task's own transaction. Source: D9. */
  readonly recordMail: RecordTaskMail
  /** Limits what is sent, as mail is limited. Both throw; `take` counts. Source: D22. */
  readonly sends: Record<'check' | 'take', (caller: Caller, recipient: Pick<Agent, 'id' | 'handle'>) => void>
  /** What each agent and project has stored. */
  readonly usage: Pick<Usage, 'requireRoom' | 'add'>
  readonly repeats: RepeatedRequests
}
