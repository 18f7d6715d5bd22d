import type { Request, Response } from 'express'
import type { z } from 'zod'
import type { RateName } from '../../admission/rates.ts'
import type { Slot } from '../../admission/slots.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import type { AnswerSize } from '../../tasks/read-task.ts'
import type { RestOperation } from '../access/operation.ts'
import type { FrontContext } from '../front-context.ts'
import type { Reply } from './reply.ts'

/** A method and a path: `GET /v1/agents/:handle`. */
export type RouteName = `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`

type ParamName<Name extends string> = Name extends `${string}:${infer Param}/${infer Rest}`
  ? Param | ParamName<Rest>
  : Name extends `${string}:${infer Param}`
    ? Param
    : never
/** The names in the path of a route: `{ handle: string }`. */
export type ParamsOf<Name extends string> = { readonly [Param in ParamName<Name>]: string }

type Schema = z.ZodType | undefined
type Parsed<S extends Schema> = S extends z.ZodType ? z.output<S> : undefined

/** The input of a handler: the caller, and the input after its schemas. */
interface Call<Name extends string, Body extends Schema, Query extends Schema> {
  readonly caller: Caller
  readonly params: ParamsOf<Name>
  readonly body: Parsed<Body>
  readonly query: Parsed<Query>
  /** The body before its schema. */
  readonly given: unknown
  /** Returns a header of the call. */
  readonly header: (name: string) => string | undefined
  /** For headers, another status than the route's, and the object in the audit. */
  readonly reply: Reply
  /** Returns a signal that aborts when the client disconnects, or with one of the given signals. */
  readonly untilGone: UntilGone
  /** Released by a call that begins to wait. */
  readonly slot: Slot
  /** How much content of a task the answer may have. */
  readonly answer: AnswerSize
  /** For answers that are streamed. undefined: the call did not come over HTTP. */
  readonly http: HttpExchange | undefined
}

export type UntilGone = (...others: AbortSignal[]) => AbortSignal

/** A request and its answer over HTTP. */
export interface HttpExchange {
  readonly req: Request
  readonly res: Response
}

interface RouteFields<Name extends string, Body extends Schema, Query extends Schema, View> {
  /** The name in the audit: `agent.read`. */
  readonly name: string
  /** Its act, after "Only the operator may": `read an agent`. */
  readonly what: string
  /** The access to it. Checked before the input is read. */
  readonly access: Omit<RestOperation, 'route' | 'name' | 'what'>
  /** The rate that it counts against, for acts that cost others more than a request does. */
  readonly rate?: RateName
  /** Its answer may have a secret, such as a new key: no cache keeps it. */
  readonly hasSecret?: true
  /** Parsed before the handler runs. Without a schema a body is ignored. */
  readonly body?: Body
  readonly query?: Query
  /** Of a success, unless the handler sets another: 200, or 204 without a body. */
  readonly status?: 200 | 201 | 204
  /** Returns the body of the answer. A handler that has begun its answer itself returns undefined. */
  readonly handle: (call: Call<Name, Body, Query>, context: FrontContext) => Promise<View>
}

/** One route of the REST API: everything that there is to say about it, and the only place that says it. */
export interface Route<Name extends RouteName, Body extends Schema, Query extends Schema, View> {
  readonly route: Name
  readonly operation: RestOperation
  readonly rate: RateName | undefined
  readonly hasSecret: boolean
  readonly body: Body | undefined
  readonly query: Query | undefined
  readonly status: 200 | 201 | 204
  readonly handle: (call: Call<Name, Body, Query>, context: FrontContext) => Promise<View>
}

/** A route as the router sees it. */
export interface AnyRoute {
  readonly route: RouteName
  readonly operation: RestOperation
  readonly rate: RateName | undefined
  readonly hasSecret: boolean
  readonly body: z.ZodType | undefined
  readonly query: z.ZodType | undefined
  readonly status: number
  readonly handle: (call: never, context: FrontContext) => Promise<unknown>
}

export function route<
  const Name extends RouteName,
  View,
  Body extends Schema = undefined,
  Query extends Schema = undefined,
>(name: Name, fields: RouteFields<Name, Body, Query, View>): Route<Name, Body, Query, View> {
  const { body, query, rate, hasSecret = false, status = 200, handle } = fields
  const operation = { route: name, name: fields.name, what: fields.what, ...fields.access }
  return { route: name, operation, rate, hasSecret, body, query, status, handle }
}

/** A route that answers every caller, with or without a key. */
export interface OpenRoute<View = unknown> {
  readonly route: RouteName
  readonly handle: (http: HttpExchange, context: FrontContext) => Promise<View>
}

export function openRoute<const Name extends RouteName, View>(
  name: Name,
  handle: (http: HttpExchange, context: FrontContext) => Promise<View>,
): OpenRoute<View> & { readonly route: Name } {
  return { route: name, handle }
}
