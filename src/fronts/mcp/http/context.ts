import type { OpenCalls } from '../../../identity/open-calls.ts'
import type { Sweep } from '../../../lib/sweeper.ts'
import type { LogNotifier } from '../../../log/log-notifier.ts'
import type { Logger } from '../../../logger.ts'
import type { McpSessionContext } from '../../../mcp-sessions/mcp-sessions.ts'
import type { Shares } from '../../../registry/shares/shares.ts'
import type { Database } from '../../../storage/database.ts'
import type { SubscriptionContext } from '../../../subscriptions/context.ts'
import type { AuditContext } from '../../access/rest-access.ts'
import type { AuthContext } from '../../auth.ts'
import type { FailedTries } from '../../failed-tries.ts'
import type { Unsent } from '../../unsent.ts'
import type { CallApi } from '../call-api.ts'
import type { McpCaller } from './call-in-session.ts'
import type { InFlight } from './in-flight.ts'
import type { ResourceFeed } from './resource-feed.ts'
import type { SessionStreams } from './session-streams.ts'
import type { SessionWakes } from './session-wakes.ts'

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

export interface McpParts {
  readonly sessions: McpSessionContext
  readonly streams: SessionStreams
  readonly wakes: SessionWakes
  readonly feed: ResourceFeed
  /** Keeps sessions with an open stream in use. */
  readonly sweep: Sweep
  readonly inFlight: InFlight
  /** Looks what has changed: ids of sessions and of wake subscriptions. */
  readonly check: (ids: readonly string[]) => void
  /** The same for all of them: notifications may have been lost. */
  readonly checkAll: () => void
  /** After how many ms a client that was disconnected comes back: spread, so that not all come at once. */
  readonly retryMs: () => number
  /** The names that a page of this gateway may have in `Origin`, beside those of loopback. */
  readonly ownNames: ReadonlySet<string>
}
