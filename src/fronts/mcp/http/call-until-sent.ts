import type { Response } from 'express'
import { unsentOver } from '../../answer-mail.ts'
import type { CallApi } from '../call-api.ts'

/** Calls the API for the answer to one POST. Mail in it waits again if the answer is not sent to its end: then nobody has read it. */
export function callUntilSent(call: CallApi, res: Response): CallApi {
  const whenUnsent = unsentOver(res)
  return async (request, options) => {
    const answer = await call(request, options)
    const { pendingSignals } = answer.body
    if (answer.returnMail && Array.isArray(pendingSignals) && pendingSignals.length > 0) {
      whenUnsent(200, answer.returnMail)
    }
    return answer
  }
}
