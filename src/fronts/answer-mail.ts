import type { Request, Response } from 'express'
import { Problem } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { returnToWaiting } from '../mailbox/delivery/return-to-waiting.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { Database } from '../storage/database.ts'

/** The header that says what a call takes of the waiting mail, and in which the answer has the number that was asked for. */
export const pendingSignalsHeader = 'Rouse-Pending-Signals'

/** What a call takes of the mail that waits. Errors: `invalid-request` for another word. */
export function wantedBy(req: Request): 'all' | 'none' | 'count' {
  const word = req.get(pendingSignalsHeader)?.trim().toLowerCase()
  if (word === undefined) return 'all'
  if (word === 'none' || word === 'count') return word
  throw new Problem('invalid-request', {
    field: pendingSignalsHeader,
    detail: `${pendingSignalsHeader}: is "none" or "count". Leave the header out to get the messages with the answer.`,
  })
}

/**
 * Only a key with `read` and `work` gets mail: that is a harness. If another key of the agent got the mail, the harness would miss
 * it. A key with `read` may count it.
 */
export function mayAsk({ kind, scopes }: Caller, wanted: 'all' | 'none' | 'count'): boolean {
  return kind === 'agent' && scopes.includes('read') && (wanted === 'count' || scopes.includes('work'))
}

/** Whether a call takes mail with its answer: its key may, and no header declines. A refusal carries mail under the same terms. */
export function takesMail(req: Request, caller: Caller): boolean {
  return req.get(pendingSignalsHeader) === undefined && mayAsk(caller, 'all')
}

/** The mail that goes along with an answer, and the status of the answer: by default the one that is set. */
interface AnswerMail {
  readonly agentId: string
  readonly signals: readonly { readonly signal_id: string }[]
  readonly status?: number
}

/** Makes mail wait again if its answer is not written to its end: then nobody has read the mail. */
export function returnUnread(db: Database, log: Logger, res: Response, mail: AnswerMail): void {
  const { agentId, signals, status = res.statusCode } = mail
  if (signals.length === 0) return
  const ids = signals.map((signal) => signal.signal_id)
  let written = false
  res.once('finish', () => {
    written = true
  })
  // Node also reports an answer as finished if its connection was reset meanwhile. An answer with another status is a refusal that
  // replaced this one: it had no mail.
  const { socket } = res.req
  const undo = (): void => {
    if (written && !socket.errored && res.statusCode === status) return
    returnToWaiting(db, agentId, ids).catch((error: unknown) => log.warn({ err: error, agentId }, 'mail.return_failed'))
  }
  if (res.closed) undo()
  else res.once('close', undo)
}
