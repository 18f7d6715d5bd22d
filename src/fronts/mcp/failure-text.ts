import { toProblem } from '../../errors.ts'
import { problemBody } from '../problem-body.ts'
import { GatewayUnreachable } from './call-api.ts'
import { problemText } from './problem-text.ts'
import { Refused } from './refused.ts'

/** A connection that was never made has carried nothing. */
function outcomeOf({ message }: GatewayUnreachable): string {
  const isUnsent = /\b(ECONNREFUSED|ENOTFOUND)\b/.test(message)
  return isUnsent ? 'The call was not carried out.' : 'Whether the call was carried out is not known.'
}

/** What went wrong, for a model: what it is and what to do instead. */
export function failureText(error: unknown): string {
  if (error instanceof Refused) return problemText(error.problem)
  if (error instanceof GatewayUnreachable)
    return `${error.message} ${outcomeOf(error)} Your mail and tasks are kept there. Tell your user, and try again later.`
  return problemText({ ...problemBody(toProblem(error), '') })
}
