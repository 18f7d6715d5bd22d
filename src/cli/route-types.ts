import type { RestApi } from '../fronts/rest/table.ts'

/** A route of the REST API: `GET /v1/agents/:handle`. */
export type RouteName = keyof RestApi

/** The JSON answer of a route. A route that answers 204 has none. */
export type AnswerOf<Name extends RouteName> = NonNullable<RestApi[Name]['answer']>

/** The body that a route takes. */
export type BodyOf<Name extends RouteName> = RestApi[Name]['body']

/** The input of a call: optional where the route needs no parameters and no body. */
export type InputOf<Name extends RouteName> =
  Record<string, never> extends CallInput<Name>
    ? [input?: CallInput<Name> & Transport]
    : [input: CallInput<Name> & Transport]

type CallInput<Name extends RouteName> = ParamsInput<RestApi[Name]['params']> &
  BodyInput<RestApi[Name]['body']> &
  QueryInput<RestApi[Name]['query']>
type ParamsInput<Params> = [keyof Params] extends [never] ? { readonly params?: Params } : { readonly params: Params }
// A body whose fields are all optional may be left out.
type BodyInput<Body> = [Body] extends [undefined]
  ? { readonly body?: undefined }
  : Record<string, never> extends Body
    ? { readonly body?: Body }
    : { readonly body: Body }
/** Numbers are written as digits; what is undefined is left out. */
type QueryInput<Query> = { readonly query?: { readonly [Field in keyof Query]?: string | number | undefined } }

/** How a call travels. */
export interface Transport {
  readonly headers?: Record<string, string>
  /** What the call does with the mail that waits (default: it counts it). `all`: the answer takes it. Source: D11. */
  readonly mail?: 'all' | 'count' | 'none'
  /** 0: no timeout. */
  readonly timeoutMs?: number
  /** Instead of the client's own signal. */
  readonly signal?: AbortSignal
}
