import type { ApiAnswerOf, ApiInput, ApiRoute } from '../fronts/rest/api-types.ts'
import type { RestApi } from '../fronts/rest/table.ts'

// The types of the answers, for the programs: the one place where they come from the gateway.
export type { ApiKeyView } from '../fronts/rest/agent-keys.ts'
export type { AgentView, PresentAgentView } from '../fronts/rest/agents/view.ts'
export type { ApprovalView } from '../fronts/rest/approvals/view.ts'
export type { AuditRecordView } from '../fronts/rest/audit.ts'
export type { ClaimView } from '../fronts/rest/claims.ts'
export type { EventView } from '../fronts/rest/events/view.ts'
export type { FollowerView } from '../fronts/rest/followers/view.ts'
export type { InboxMessageView, MessageView, RecipientView, SentView } from '../fronts/rest/messages/view.ts'
export type { NeedView } from '../fronts/rest/needs/view.ts'
export type { OperatorKeyView } from '../fronts/rest/operator-keys.ts'
export type { PermissionView } from '../fronts/rest/permissions.ts'
export type { ProjectLimitsView } from '../fronts/rest/projects.ts'
export type { SessionView } from '../fronts/rest/sessions/view.ts'
export type { TaskSummaryView, TaskView } from '../fronts/rest/tasks/view.ts'
export type {
  AttemptView,
  DeliveryView,
  HeldView,
  SubscriptionView,
  TestView,
  WakeStepView,
} from '../fronts/rest/wake-subscriptions/view.ts'
export type { RestApi }

/** A route of the REST API: `GET /v1/agents/:handle`. */
export type RouteName = ApiRoute

/** The JSON answer of a route. A route that answers 204 has none. */
export type AnswerOf<Name extends RouteName> = ApiAnswerOf<Name>

/** The body that a route takes. */
export type BodyOf<Name extends RouteName> = RestApi[Name]['body']

/** The input of a call: optional where the route needs no parameters and no body. */
export type InputOf<Name extends RouteName> =
  Record<string, never> extends ApiInput<Name>
    ? [input?: ApiInput<Name> & Transport]
    : [input: ApiInput<Name> & Transport]

/** How a call travels. */
export interface Transport {
  readonly headers?: Record<string, string>
  /** The part of the waiting mail that the call takes (default: it counts it). `all`: the answer takes it. Source: D11. */
  readonly mail?: 'all' | 'count' | 'none'
  /** 0: no timeout. */
  readonly timeoutMs?: number
  /** Instead of the client's own signal. */
  readonly signal?: AbortSignal
}
