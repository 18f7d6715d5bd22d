import type { Slot } from '../../admission/slots.ts'
import { Problem } from '../../errors.ts'
import { isJsonObject } from '../../lib/json.ts'
import { readTraceparent } from '../../lib/trace-parent.ts'
import { withNearestNames } from '../../registry/agents/unknown-address.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import type { AnswerSize } from '../../tasks/read-task.ts'
import { authorise } from '../access/authorise.ts'
import { beginChange } from '../access/changes.ts'
import type { FrontContext } from '../front-context.ts'
import { type WhenUnsent, wantedBy, withMail, withSessionMail } from '../http/answer-mail.ts'
import { inSpan, marked } from '../traced.ts'
import { parse } from '../validate.ts'
import { runOnce } from './repeated-call.ts'
import type { Reply } from './reply.ts'
import type { AnyRoute, HttpExchange, UntilGone } from './route.ts'
import type { RouteMatch } from './route-table.ts'
import { requireOwnSession } from './session-header.ts'

/** A call of the REST API by a known caller, over HTTP or from within the gateway. */
interface RestCall {
  readonly caller: Caller
  readonly method: string
  /** Without its query: `/v1/inbox`. */
  readonly path: string
  readonly query: unknown
  readonly header: (name: string) => string | undefined
  /** Reads the body: after everything that can be refused without it. */
  readonly readBody: () => Promise<unknown>
  readonly whenUnsent: WhenUnsent
  readonly untilGone: UntilGone
  readonly slot: Slot
  readonly answer: AnswerSize
  /** undefined: the call did not come over HTTP. */
  readonly http: HttpExchange | undefined
}

/**
 * Answers a call: checks what the caller may do, its rates, its session and its input, runs the route and adds the caller's mail.
 * Returns the body; the status and the headers are in `reply`. undefined where the route has begun its answer itself. Errors:
 * problems.
 */
export async function callRoute(
  context: FrontContext,
  { route, params }: RouteMatch<AnyRoute>,
  call: RestCall,
  reply: Reply,
): Promise<unknown> {
  const { caller, header, untilGone, slot, answer, http } = call
  authorise(route.operation, caller)
  const changed = beginChange(context.admission, route.operation, caller)
  if (route.hasSecret) reply.headers['Cache-Control'] = 'no-store'
  if (route.rate) context.admission.spend(caller, route.rate, route.operation.name)
  const wanted = wantedBy(header)
  const mailCall = { wanted, ...call }
  try {
    await requireOwnSession(context.db, caller, header)
    const given = await call.readBody()
    const input = {
      caller,
      params: namedParams(route.route, params),
      body: route.body && parse(route.body, given),
      query: route.query && parse(route.query, withoutEmptyToken(call.query)),
      given,
      header,
      reply,
      untilGone,
      slot,
      answer,
      http,
    }
    const view = await runOnce(context, { ...input, operation: route.operation }, reply, async () => {
      const made = await handleTraced(context, route, input)
      changed()
      return made
    })
    if (http?.res.headersSent) return undefined
    const { view: body, headers } = await withMail(context, mailCall, reply.status, view)
    Object.assign(reply.headers, headers)
    return body
  } catch (error) {
    throw await withSessionMail(context, mailCall, await withNearestNames(context.db, caller, error))
  }
}

/** Runs the handler of a route. What is only read is no span. */
function handleTraced(
  context: FrontContext,
  route: AnyRoute,
  input: Pick<RestCall, 'caller' | 'header'>,
): Promise<unknown> {
  const parent = readTraceparent(input.header('traceparent'))
  const { name, audited } = route.operation
  const handle = (traceparent: string | undefined) =>
    route.handle(input as never, featuresFor(context, { traceparent, person: input.caller.name }))
  const isSpan = audited === 'first' || audited === 'soon'
  return isSpan
    ? inSpan(context.tracing, { name, parent, attributes: { 'rouse.front': 'rest' } }, handle)
    : handle(parent)
}

/** The features for a call, with the marks of its events. */
function featuresFor(context: FrontContext, marks: Parameters<typeof marked>[1]): FrontContext {
  const { approvals, claims, mail, recovery, sessions, subscriptions } = context
  return {
    ...marked(context, marks),
    approvals: marked(approvals, marks),
    claims: marked(claims, marks),
    mail: marked(mail, marks),
    recovery: marked(recovery, marks),
    sessions: marked(sessions, marks),
    subscriptions: marked(subscriptions, marks),
  }
}

/** A list's last page names an empty token: a loop that begins with it begins with the first page. */
function withoutEmptyToken(query: unknown): unknown {
  if (!isJsonObject(query) || query.pageToken !== '') return query
  const { pageToken: _, ...others } = query
  return others
}

function namedParams(route: string, values: readonly string[]): Record<string, string> {
  const names = [...route.matchAll(/:(\w+)/g)].map(([, name]) => name!)
  return Object.fromEntries(names.map((name, at) => [name, decoded(values[at]!)]))
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch (cause) {
    throw new Problem('invalid-request', { detail: 'The request could not be read.', cause })
  }
}
