import type { JsonObject } from '../../lib/json.ts'

/** The gateway refused a call of the API. */
export class Refused extends Error {
  readonly status: number
  /** `application/problem+json`, as the gateway answered it. */
  readonly problem: JsonObject

  constructor(status: number, problem: JsonObject) {
    super(typeof problem.detail === 'string' ? problem.detail : String(problem.title ?? `status ${status}`))
    this.name = 'Refused'
    this.status = status
    this.problem = problem
  }
}
