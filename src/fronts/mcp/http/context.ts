import type { OpenCalls } from '../../../identity/open-calls.ts'
import type { LogNotifier } from '../../../log/log-notifier.ts'
import type { Logger } from '../../../logger.ts'
import type { Shares } from '../../../registry/shares/shares.ts'
import type { Database } from '../../../storage/database.ts'
import type { SubscriptionContext } from '../../../subscriptions/context.ts'
import type { AuditContext } from '../../access/rest-access.ts'
import type { AuthContext } from '../../auth.ts'
import type { FailedTries } from '../../failed-tries.ts'
import type { Unsent } from '../../unsent.ts'
import type { CallApi } from '../call-api.ts'
import type { McpCaller } from './call-in-session.ts'
import type { McpParts } from './open-parts.ts'

/** What `/mcp` needs of the gateway. */
export interface McpFrontContext extends AuthContext, AuditContext {
  readonly db: Database
  readonly log: Logger
  readonly shares: Shares
  readonly unsent: Unsent
  readonly openCalls: OpenCalls
  readonly stopping: AbortSignal
  readonly notifier: LogNotifier
  readonly failedTries: FailedTries
  readonly subscriptions: SubscriptionContext
  readonly mcp: McpParts
  /** Calls the gateway's API for a caller. */
  readonly callApi: (from: McpCaller) => CallApi
}
