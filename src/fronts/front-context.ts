import type { Admission } from '../admission/admission.ts'
import type { WrongKeys } from '../admission/wrong-keys.ts'
import type { AiCatalog } from '../agent-card/ai-catalog.ts'
import type { CardDocuments } from '../agent-card/documents.ts'
import type { RevisionCache } from '../agent-card/revision-cache.ts'
import type { CardSigner } from '../agent-card/signing.ts'
import type { ApprovalContext } from '../approvals/closing.ts'
import type { Audit } from '../audit/audit.ts'
import type { ClaimContext } from '../claims/context.ts'
import type { FollowingContext } from '../following/follow.ts'
import type { AuthContext } from '../identity/authenticate.ts'
import type { MailContext } from '../mailbox/context.ts'
import type { MailWaits } from '../mailbox/delivery/mail-waits.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { GateContext } from '../recovery/change-gate.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { ClientAddress } from '../security/client-address.ts'
import type { SessionContext } from '../sessions/context.ts'
import type { SubscriptionContext } from '../subscriptions/context.ts'
import type { TaskContext } from '../tasks/context.ts'
import type { Tracing } from '../tracing/tracing.ts'
import type { StreamConnections } from '../wake-stream/connections.ts'
import type { WakeStreamContext } from '../wake-stream/context.ts'
import type { McpEventCodes } from '../words/mcp-events.ts'
import type { ReadinessProbe } from './readiness.ts'

/** The answer of `/metrics`. */
export interface MetricsPage {
  /** True when it answers without a key. */
  readonly isOpen: boolean
  readonly write: () => Promise<{ readonly type: string; readonly text: string }>
}

/** All protocols work with this: the features, and what admits and records each call. */
export interface FrontContext extends TaskContext, AuthContext {
  // features
  readonly approvals: ApprovalContext
  readonly claims: ClaimContext
  readonly mail: MailContext
  readonly mailWaits: MailWaits
  readonly following: FollowingContext
  readonly sessions: SessionContext
  readonly recovery: GateContext
  readonly subscriptions: SubscriptionContext
  /** Events for clients of MCP: on or off, and the numbers of the errors. */
  readonly mcpEvents: { readonly isOn: boolean; readonly codes: McpEventCodes }
  readonly wakeStreams: WakeStreamContext & { readonly connections: StreamConnections }
  readonly cards: CardDocuments
  /** The AI Catalog for everybody. */
  readonly openCatalog: RevisionCache<AiCatalog>
  readonly signer: CardSigner
  readonly publicUrl: string
  /** The issuers of tokens that are accepted beside keys. */
  readonly issuers: readonly { readonly issuer: string }[]

  // callers
  readonly wrongKeys: WrongKeys
  readonly clientAddress: ClientAddress
  /** Called for every request of an authenticated caller, as a sign of life. */
  readonly saw: (caller: Caller, isAct: boolean) => void
  readonly audit: Audit

  // calls
  readonly admission: Admission
  /** The largest body, in bytes. */
  readonly bodyMax: number
  /** The most bytes of a task's history and artifacts in an answer. */
  readonly answerMax: number
  /** How long a blocking SendMessage waits, in ms. */
  readonly blockingTimeoutMs: number

  // the gateway
  readonly metrics: Pick<Metrics, 'accepted' | 'refused'>
  /** Undefined: no spans are written. */
  readonly tracing: Tracing | undefined
  /** Undefined: `/metrics` is off. */
  readonly metricsPage: MetricsPage | undefined
  readonly instanceKey: string
  readonly readiness: ReadinessProbe
  /** Aborts when the gateway stops. */
  readonly stopping: AbortSignal
  /** Called after a commit that removes keys or agents, with their ids: their open streams and calls end on every gateway. */
  readonly revoked: (ids: readonly string[]) => void
}
