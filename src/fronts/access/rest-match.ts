import type { RestOperation } from './operation.ts'
import { restOperations } from './rest-operations.ts'

/** The row that a request is, and what its path names: `['donna', '01J…']`. */
export interface RestMatch {
  readonly operation: RestOperation
  readonly params: readonly string[]
}

interface Pattern {
  readonly operation: RestOperation
  /** undefined where any text may stand. */
  readonly segments: readonly (string | undefined)[]
}

const patterns = new Map<string, Pattern[]>()
for (const operation of restOperations) {
  const [method = '', path = ''] = operation.route.split(' ')
  const segments = path.split('/').map((segment) => (segment.startsWith(':') ? undefined : segment))
  const key = keyOf(method, segments.length)
  patterns.set(key, [...(patterns.get(key) ?? []), { operation, segments }])
}

function keyOf(method: string, count: number): string {
  return `${method} ${count}`
}

/**
 * The row of a method and a path as they came, read as Express reads them: letters of either case, one slash at the end or none,
 * HEAD as GET. Undefined where there is none.
 */
export function matchRest(method: string, path: string): RestMatch | undefined {
  const given = (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path).split('/')
  const known = patterns.get(keyOf(method === 'HEAD' ? 'GET' : method, given.length))
  const found = known?.find(({ segments }) => segments.every((segment, at) => isSame(segment, given[at]!)))
  return found && { operation: found.operation, params: given.filter((_, at) => found.segments[at] === undefined) }
}

function isSame(segment: string | undefined, given: string): boolean {
  return segment === undefined ? given !== '' : given === segment || given.toLowerCase() === segment
}

const methods = [...new Set(restOperations.map(({ route }) => route.slice(0, route.indexOf(' '))))]

/** Whether a path has any row at all, whatever the method. */
export function isRestPath(path: string): boolean {
  return methods.some((method) => matchRest(method, path) !== undefined)
}
