import type { RestApi } from './table.ts'

/** A route of the REST API: `GET /v1/agents/:handle`. */
export type ApiRoute = keyof RestApi

/** The JSON answer of a route. A route that answers 204 has none. */
export type ApiAnswerOf<Name extends ApiRoute> = NonNullable<RestApi[Name]['answer']>

/** The input of a call of a route: optional where the route needs no parameters and no body. */
export type ApiInput<Name extends ApiRoute> = ParamsInput<RestApi[Name]['params']> &
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
