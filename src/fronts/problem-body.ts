import type { Problem } from '../errors.ts'

/** Returns a problem in the form of RFC 9457. `instance` is the path of the request. */
export function problemBody(problem: Problem, instance: string): object {
  return {
    type: `urn:rouse:problem:${problem.code}`,
    title: problem.title,
    status: problem.status,
    detail: problem.message,
    instance,
    code: problem.code,
    ...(problem.field === undefined ? {} : { field: problem.field }),
    ...problem.extra,
  }
}
