import type { RestApi } from '../../src/fronts/rest/table.ts'
import { filledJson } from './words.ts'

export type RestRoute = keyof RestApi
export type BodyOf<Route extends RestRoute> = RestApi[Route]['body']
type QueryOf<Route extends RestRoute> = RestApi[Route]['query']

/**
 * A plain request that a route accepts. `:word` stands for an id, in each text of it: of something that is planted (plants.ts), or of
 * something that a request uses up, where the word begins with `spare`.
 */
interface Sample<Route extends RestRoute> {
  /** The word of the last parameter of the path. Absent: its name is a word. */
  readonly of?: string
  readonly query?: QueryOf<Route>
  readonly body?: BodyOf<Route>
  readonly headers?: Readonly<Record<string, string>>
  /** The fields that the body lacks: with them it has every field that the route takes. A list takes the place of the body. */
  readonly more?: Partial<BodyOf<Route>>
  /** The same for the query. */
  readonly moreQuery?: QueryOf<Route>
}

export type Samples = { readonly [Route in RestRoute]: Sample<Route> }

/** A sample of any route. */
export type AnySample = Pick<Sample<never>, 'of' | 'headers'> & {
  readonly query?: object | undefined
  readonly body?: unknown
  readonly more?: object | undefined
  readonly moreQuery?: object | undefined
}

export interface Planned {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** The path of a route with the word of its sample. */
export function pathOf(route: string, { of }: AnySample): string {
  const [, path = ''] = route.split(' ')
  return of === undefined ? path : path.replace(/:\w+(?=[^:]*$)/, `:${of}`)
}

/** A request of a route with ids in the place of its words. Pure. */
export function planned(route: string, sample: AnySample, ids: Readonly<Record<string, string>>): Planned {
  const { query = {}, body, headers } = sample
  const search = Object.entries(query).map(([name, value]) => `${name}=${value}`)
  const path = [pathOf(route, sample), ...(search.length === 0 ? [] : [search.join('&')])].join('?')
  const request = { method: route.split(' ')[0]!, path, ...(body === undefined ? {} : { body }) }
  return filledJson({ ...request, ...(headers ? { headers } : {}) }, ids)
}

/** The same sample with every field that the route has. Pure. */
export function withAllFields({ more, moreQuery, query, body, ...rest }: AnySample): AnySample {
  const all = more && !Array.isArray(more) ? { ...(body as object), ...more } : (more ?? body)
  return { ...rest, query: { ...query, ...moreQuery }, ...(all === undefined ? {} : { body: all }) }
}
