import { Problem } from '../../errors.ts'
import { openLimits } from '../../gateway-limits.ts'
import { oneKeyLimits, projectLimits, projectRates, type RateName } from '../../share-limits.ts'
import type { Caller } from '../callers/caller.ts'

/** How soon to come back when too many requests are under way at once. */
export const busyRetrySeconds = 1

/** Returns `rate-limited` for a rate of an agent or its project that is used up. `waitMs`: until it may be used again. */
export function usedUp(caller: Caller, name: RateName, max: number, waitMs: number): Problem {
  const { unit, what } = projectLimits[name]
  const who = Object.hasOwn(projectRates, name) ? `Project ${caller.projectId}` : caller.identity
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1_000))
  return new Problem('rate-limited', {
    detail: `${who} has used up ${name}: ${max} ${unit} (${what}). Wait ${retryAfterSeconds} s. The operator may raise it for the project: PATCH /v1/projects/{project}.`,
    extra: { limit: max, limitName: name, retryAfterSeconds },
  })
}

/** Returns `rate-limited` for a key that has used up its part of its agent's requests. `waitMs`: until it may send the next one. */
export function partUsedUp({ identity }: Caller, perMinute: number, waitMs: number): Problem {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1_000))
  return new Problem('rate-limited', {
    detail: `This key of ${identity} has used up ${oneKeyLimits.requestsOfKey.max} percent (requestsOfKey) of requestsPerMinute: ${perMinute} a minute. The rest is left for other keys of ${identity}, which are in use. Wait ${retryAfterSeconds} s.`,
    extra: { limit: perMinute, limitName: 'requestsPerMinute', retryAfterSeconds },
  })
}

/** Returns `rate-limited` for an agent with `inside` requests in process and `waiting` in its queue. */
export function tooManyAtOnce(caller: Caller, inside: number, waiting: number): Problem {
  return new Problem('rate-limited', {
    detail: `${caller.identity} has ${inside} requests under way and ${waiting} waiting. Wait for answers before you ask for more. The operator may raise requestsAtOnce and requestsInLine for the project.`,
    extra: { limit: waiting, limitName: 'requestsInLine', retryAfterSeconds: busyRetrySeconds },
  })
}

/** Returns `rate-limited` for a request whose body had to wait too long for the other requests of its caller. */
export function tooManyBodies(caller: Caller): Problem {
  const { max, unit } = openLimits.bodiesAtOnce
  return new Problem('rate-limited', {
    detail: `${caller.identity} has ${max} ${unit} of bodies in requests that are not answered yet, or would have with this one (bodiesAtOnce). Wait for their answers before you send more.`,
    extra: { limit: max, limitName: 'bodiesAtOnce', retryAfterSeconds: busyRetrySeconds },
  })
}

/** Returns `rate-limited` for a request whose content had to wait too long for the other answers of its caller. */
export function tooMuchContent(caller: Caller): Problem {
  const { max, unit } = openLimits.contentAtOnce
  return new Problem('rate-limited', {
    detail: `${caller.identity} has ${max} ${unit} of content in answers that are not over, or would have with this one (contentAtOnce). Read or close the open answers before you ask for more.`,
    extra: { limit: max, limitName: 'contentAtOnce', retryAfterSeconds: busyRetrySeconds },
  })
}
