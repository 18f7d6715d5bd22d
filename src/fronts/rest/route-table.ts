import type { RouteName } from './route.ts'

/** A route that a request matches, and what its path names, as it came: `['donna', '01J…']`. */
export interface RouteMatch<Route> {
  readonly route: Route
  readonly params: readonly string[]
}

/** Finds routes by method and path. */
export interface RouteTable<Route> {
  readonly routes: readonly Route[]
  /**
   * The route of a method and a path, read as Express reads them: letters of either case, with or without one slash at the end,
   * HEAD as GET. undefined where there is none.
   */
  match(method: string, path: string): RouteMatch<Route> | undefined
  /** The methods of a path, in the order of the table. Empty: nothing answers there. */
  methodsOf(path: string): string[]
}

export function routeTable<Route extends { readonly route: RouteName }>(routes: readonly Route[]): RouteTable<Route> {
  const byLength = new Map<number, Pattern<Route>[]>()
  for (const pattern of routes.map(patternOf)) {
    const { length } = pattern.segments
    byLength.set(length, [...(byLength.get(length) ?? []), pattern])
  }
  const matching = (given: readonly string[]): Pattern<Route>[] => {
    const patterns = byLength.get(given.length) ?? []
    return patterns.filter(({ segments }) => segments.every((segment, at) => isSame(segment, given[at]!)))
  }
  return {
    routes,
    match(method, path) {
      const given = segmentsOf(path)
      const wanted = method === 'HEAD' ? 'GET' : method
      const found = matching(given).find((pattern) => pattern.method === wanted)
      return found && { route: found.route, params: given.filter((_, at) => found.segments[at] === undefined) }
    },
    methodsOf: (path) => matching(segmentsOf(path)).map(({ method }) => method),
  }
}

interface Pattern<Route> {
  readonly route: Route
  readonly method: string
  /** undefined where any text matches. */
  readonly segments: readonly (string | undefined)[]
}

function patternOf<Route extends { readonly route: RouteName }>(route: Route): Pattern<Route> {
  const [method = '', path = ''] = route.route.split(' ')
  return { route, method, segments: path.split('/').map((segment) => (segment.startsWith(':') ? undefined : segment)) }
}

function segmentsOf(path: string): string[] {
  return (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path).split('/')
}

function isSame(segment: string | undefined, given: string): boolean {
  return segment === undefined ? given !== '' : given === segment || given.toLowerCase() === segment
}
