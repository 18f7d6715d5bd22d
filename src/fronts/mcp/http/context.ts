import type { WrongKeys } from '../../../admission/wrong-keys.ts'
import type { OpenCalls } from '../../../identity/open-calls.ts'
import type { LogNotifier } from '../../../log/log-notifier.ts'
import type { Logger } from '../../../logger/logger.ts'
import type { Database } from '../../../storage/database.ts'
import type { SubscriptionContext } from '../../../subscriptions/context.ts'
import type { AuditContext } from '../../access/rest-access.ts'
import type { AuthContext } from '../../http/auth.ts'
import type { BodyContext } from '../../http/json-body.ts'
import type { CallApi } from '../call-api.ts'
import type { McpCaller } from './call-in-session.ts'
import type { McpParts } from './open-parts.ts'

/** The parts of the gateway that `/mcp` needs. */
export interface McpFrontContext extends AuthContext, AuditContext, BodyContext {
  readonly db: Database
  readonly log: Logger
  readonly openCalls: OpenCalls
  readonly stopping: AbortSignal
  readonly notifier: LogNotifier
  readonly wrongKeys: WrongKeys
  readonly subscriptions: SubscriptionContext
  readonly mcp: McpParts
  /** Calls the gateway's API for a caller. */
  readonly callApi: (from: McpCaller) => CallApi
}
