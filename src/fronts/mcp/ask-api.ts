import { Problem } from '../../errors.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import type { ApiAnswerOf, ApiInput, ApiRoute } from '../rest/api-types.ts'
import type { ApiAnswer, ApiRequest, CallApi, McpCall } from './call-api.ts'
import { Refused } from './refused.ts'

/** Calls the API for one MCP request. What it refuses is thrown as `Refused`. */
export interface AskApi {
  /** One route of the REST API, with input and answer as the route declares them. */
  rest<Name extends ApiRoute>(route: Name, ...input: RestInput<Name>): Promise<ApiAnswerOf<Name> & JsonObject>
  /** Any request: REST, or A2A over HTTP+JSON. Returns the JSON of the answer. */
  request(request: ApiRequest): Promise<JsonObject>
  /** The mail of every answer so far, without the rest: a tool that asks twice would keep both in memory. */
  readonly answers: readonly AnsweredMail[]
}

/** The mail that came with an answer. */
interface AnsweredMail extends Pick<ApiAnswer, 'returnMail'> {
  readonly pendingSignals: readonly JsonObject[]
}

type WithHeaders<Input> = Input & { readonly headers?: Readonly<Record<string, string>> }
type RestInput<Name extends ApiRoute> =
  Record<string, never> extends ApiInput<Name>
    ? [input?: WithHeaders<ApiInput<Name>>]
    : [input: WithHeaders<ApiInput<Name>>]

export function createAskApi(call: CallApi, mcp: McpCall, signal: AbortSignal): AskApi {
  const answers: AnsweredMail[] = []
  const request: AskApi['request'] = async (apiRequest) => {
    const answer = await call(apiRequest, { signal, mcp })
    const { returnMail } = answer
    answers.push({ pendingSignals: mailOf(answer), ...(returnMail && { returnMail }) })
    if (answer.status >= 400) throw new Refused(answer.status, answer.body)
    return answer.body
  }
  return {
    answers,
    request,
    async rest<Name extends ApiRoute>(route: Name, ...input: RestInput<Name>) {
      const apiRequest = restRequest(route, (input[0] ?? {}) as GivenInput)
      // The mail in an answer is for the result of the tool, whatever the tool makes of the rest.
      const { pendingSignals: _mail, ...body } = await request(apiRequest)
      return body as ApiAnswerOf<Name> & JsonObject
    },
  }
}

interface GivenInput {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: JsonObject
  readonly headers?: Readonly<Record<string, string>>
}

function restRequest(route: ApiRoute, { params = {}, query = {}, body, headers }: GivenInput): ApiRequest {
  const [method, path = ''] = route.split(' ') as [ApiRequest['method'], string]
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  return {
    method,
    path: path.replace(/:(\w+)/g, (_, name: string) => pathPart(name, params[name] ?? '')) as ApiRequest['path'],
    ...(given.length > 0 ? { query: Object.fromEntries(given) } : {}),
    ...(body === undefined ? {} : { body }),
    ...(headers === undefined ? {} : { headers }),
  }
}

/** A part of a path. Errors: `invalid-request`: nothing and dots would name another resource. */
export function pathPart(field: string, value: string): string {
  if (!/^\.{0,2}$/.test(value.trim())) return encodeURIComponent(value)
  throw new Problem('invalid-request', {
    field,
    detail: `${field}: is empty. Give an id or a handle as it was shown to you.`,
  })
}

function mailOf({ body: { pendingSignals } }: ApiAnswer): JsonObject[] {
  return Array.isArray(pendingSignals) ? pendingSignals.filter(isJsonObject) : []
}
