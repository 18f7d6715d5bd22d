import type { Core } from '../../../core.ts'
import type { OpenCalls } from '../../../identity/open-calls.ts'
import type { LogNotifier } from '../../../log/log-notifier.ts'
import type { McpSessionContext } from '../../../mcp-sessions/mcp-sessions.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import type { Shares } from '../../../registry/shares/shares.ts'
import type { AuditContext } from '../../access/rest-access.ts'
import type { AuthContext } from '../../auth.ts'
import type { FailedTries } from '../../failed-tries.ts'
import type { Unsent } from '../../unsent.ts'
import type { CallApi } from '../call-api.ts'
import type { InFlight } from './in-flight.ts'
import type { ResourceFeed } from './resource-feed.ts'
import type { SessionStreams } from './session-streams.ts'

/** What `/mcp` needs of the gateway. */
export interface McpFrontContext extends AuthContext, AuditContext, Pick<Core, 'db' | 'clock' | 'log'> {
  readonly shares: Shares
  readonly unsent: Unsent
  readonly openCalls: OpenCalls
  readonly stopping: AbortSignal
  readonly notifier: LogNotifier
  readonly failedTries: FailedTries
  readonly mcp: McpParts
}

export interface McpParts {
  readonly sessions: McpSessionContext
  readonly streams: SessionStreams
  readonly feed: ResourceFeed
  readonly inFlight: InFlight
  /** Calls the gateway's API for a caller. `address`: of the client, for the audit. */
  readonly callApi: (caller: Caller, client: McpClient) => CallApi
  /** After how many ms a client that was disconnected comes back: spread, so that not all come at once. */
  readonly retryMs: () => number
  /** The names that a page of this gateway may have in `Origin`, beside those of loopback. */
  readonly ownNames: ReadonlySet<string>
}

/** Whose request it is that calls the API. */
export interface McpClient {
  readonly address: string
  readonly bearer: string
}
