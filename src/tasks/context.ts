import type { Usage } from '../admission/usage.ts'
import type { Core } from '../log/core.ts'
import type { LogNotifier } from '../log/log-notifier.ts'
import type { RepeatedRequests } from '../registry/idempotency.ts'
import type { SendLimits } from '../registry/mail/send-limits.ts'
import type { RecordTaskMail } from '../registry/mail/task-mail.ts'
import type { SecretBox } from '../security/secret.ts'

export interface TaskContext extends Core {
  readonly notifier: LogNotifier
  /** Puts a message into the mailbox within the task's own transaction. Source: D9. */
  readonly recordMail: RecordTaskMail
  readonly sends: SendLimits
  /** The storage that each agent and project uses. */
  readonly usage: Pick<Usage, 'requireRoom' | 'add'>
  readonly repeats: RepeatedRequests
  readonly secrets: SecretBox
  /** Throws `url-not-allowed` or `invalid-request`. The URL is judged, never requested. */
  readonly checkUrl: (url: string, field: string) => URL
}
