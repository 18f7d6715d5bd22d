import type { Slot } from '../../admission/slots.ts'
import { Problem, toProblem } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import { defaultProject } from '../../registry/projects/project-store.ts'
import { statusErrorBody } from '../a2a/answer.ts'
import { type AgentAddress, findCalledAgent } from '../a2a/called-agent.ts'
import { cardAgent } from '../a2a/card-agent.ts'
import { sendLocally } from '../a2a/local-call.ts'
import { recordRestCall, unrecorded } from '../access/rest-access.ts'
import type { FrontContext } from '../front-context.ts'
import { noteRefusal } from '../note-refusal.ts'
import { problemBody } from '../problem-body.ts'
import { readinessOf } from '../readiness.ts'
import { callRoute } from '../rest/call-route.ts'
import { Reply } from '../rest/reply.ts'
import { restTable } from '../rest/table.ts'
import type { ApiAnswer, ApiRequest, CallApi, CallOptions } from './call-api.ts'

/** The caller, and its address. */
export interface LocalCaller {
  readonly caller: Caller
  /** The client's IP address. */
  readonly address: string
  /** Held until each call has ended, also where nobody waits for its answer. A call that waits for something frees it. */
  readonly slot: Slot
}

/**
 * Answers calls of the API from within the gateway, for a caller whose key is known: with the same access, rates, checks, audit,
 * problems and mail as over HTTP, and no request between. It answers REST, `/readyz`, and of each agent its card and HTTP+JSON's `message:send`.
 */
export function createLocalApi(context: FrontContext): (from: LocalCaller) => CallApi {
  return (from) =>
    async (request, options = {}) => {
      options.signal?.throwIfAborted()
      using _held = from.slot.hold()
      const send = sendPath.exec(request.path)
      if (send && request.method === 'POST') {
        return await answerSend(context, from, request, { to: addressOf(send), ...options })
      }
      if (request.path === '/readyz') return await answerReadiness(context)
      const card = cardPath.exec(request.path)
      if (card && request.method === 'GET') return await answerCard(context, from, request, addressOf(card))
      return await answerRest(context, from, request, options)
    }
}

const sendPath = /^(?:\/projects\/([^/]+))?\/agents\/([^/]+)\/message:send$/

const cardPath = /^(?:\/projects\/([^/]+))?\/agents\/([^/]+)\/\.well-known\/agent-card\.json$/

function addressOf([, project = defaultProject, handle = '']: RegExpExecArray): AgentAddress {
  return { project: decodeURIComponent(project), handle: decodeURIComponent(handle) }
}

async function answerSend(
  context: FrontContext,
  from: LocalCaller,
  request: ApiRequest,
  { to, signal = new AbortController().signal }: CallOptions & { readonly to: AgentAddress },
): Promise<ApiAnswer> {
  const { body = {}, headers = {} } = request
  try {
    const idempotencyKey = headers['idempotency-key']
    const answer = await sendLocally(context, { ...from, to, body, signal, idempotencyKey })
    return { status: 200, headers: {}, body: answer }
  } catch (error) {
    const problem = problemOf(context, request, error)
    return { status: problem.status, headers: {}, body: statusErrorBody(problem) as JsonObject }
  }
}

async function answerReadiness({ readiness, stopping }: FrontContext): Promise<ApiAnswer> {
  const { status, body } = await readinessOf(readiness, stopping)
  return { status, headers: {}, body }
}

async function answerCard(
  context: FrontContext,
  { caller }: LocalCaller,
  request: ApiRequest,
  address: AgentAddress,
): Promise<ApiAnswer> {
  try {
    const agent = await findCalledAgent(context.db, address, async () => caller)
    const { body } = await context.cards.document(cardAgent(agent), '1.0')
    return { status: 200, headers: {}, body: JSON.parse(body) }
  } catch (error) {
    return refusal(problemOf(context, request, error), request.path)
  }
}

async function answerRest(
  context: FrontContext,
  { caller, address, slot }: LocalCaller,
  request: ApiRequest,
  { signal }: CallOptions,
): Promise<ApiAnswer> {
  const { method, path, query = {}, body, headers = {} } = request
  const match = restTable.match(method, path)
  if (!match) return refusal(new Problem('not-found', { detail: `There is no route ${method} ${path}.` }), path)
  const { route, params } = match
  const reply = new Reply(route.status)
  const undone: (() => void)[] = []
  const call = {
    caller,
    method,
    path,
    query,
    header: (name: string) => headers[name.toLowerCase()],
    readBody: async () => body,
    whenUnsent: (_status: number, undo: () => void) => void undone.push(undo),
    untilGone: (...others: AbortSignal[]) => AbortSignal.any(signal ? [signal, ...others] : others),
    slot,
    answer: { sizeMax: context.answerMax },
    http: undefined,
  }
  const returnMail = (): void => {
    for (const undo of undone.splice(0)) undo()
  }
  const recorded = { operation: route.operation, params, caller, reply, front: 'mcp' as const, address }
  try {
    const view = (await callRoute(context, match, call, reply)) ?? {}
    try {
      await recordRestCall(context.audit, { ...recorded, outcome: 'ok' })
    } catch {
      returnMail()
      return refusal(unrecorded(), path)
    }
    const { status } = reply
    return { status, headers: lowerCase(reply.headers), body: view as JsonObject, returnMail }
  } catch (error) {
    const problem = problemOf(context, request, error)
    recordRestCall(context.audit, { ...recorded, outcome: problem.code })
    return { ...refusal(problem, path), returnMail }
  }
}

function problemOf({ log, metrics }: FrontContext, { method, path }: ApiRequest, error: unknown): Problem {
  const problem = toProblem(error)
  noteRefusal(metrics, problem)
  if (problem.isFault) log.error({ err: error, method, path }, 'request.failed')
  return problem
}

function refusal(problem: Problem, path: string): ApiAnswer {
  return { status: problem.status, headers: {}, body: problemBody(problem, path) as JsonObject }
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
