import type { Request, RequestHandler, Response } from 'express'
import { isJsonObject } from '../lib/json.ts'
import type { Logger } from '../logger.ts'
import { type PiggybackContext, takePiggyback } from '../mailbox/delivery/piggyback.ts'
import { returnToWaiting } from '../mailbox/delivery/return-to-waiting.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { callerOf } from './auth.ts'

/**
 * Lets the mail that waits for an agent go along with the answer to whatever it asked, as `pendingSignals`. It is marked before
 * the answer is written; when the connection breaks before the answer was out, it waits again. Source: S2-14.
 */
export function pendingSignals(context: PiggybackContext, log: Logger): RequestHandler {
  return (req, res, next) => {
    const caller = callerOf(res)
    if (!takesMail(caller) || req.method === 'HEAD') return next()
    const send = res.json.bind(res)
    res.json = (body: unknown) => {
      if (!mayCarry(req, res, body)) {
        if (isJsonObject(body)) watch(context, log, res, caller.id, signalsOf(body))
        return send(body)
      }
      takePiggyback(context, caller.id)
        .catch((error: unknown) => {
          // The answer itself is good: mail waits for the next one.
          log.warn({ err: error, agent: caller.identity }, 'mail.piggyback_failed')
          return []
        })
        .then((signals) => {
          watch(context, log, res, caller.id, signals)
          send(signals.length === 0 ? body : { ...(body as object), pendingSignals: signals })
        })
        // An answer that cannot be written is this request's failure.
        .catch(next)
      return res
    }
    next()
  }
}

/** A harness does, which reads and works. What another key of the agent was told would be missing to the harness. */
function takesMail({ kind, scopes }: Caller): boolean {
  return kind === 'agent' && scopes.includes('read') && scopes.includes('work')
}

/** An inbox is the mail itself, and a session's start has drained it. */
function mayCarry(req: Request, res: Response, body: unknown): boolean {
  return (
    isJsonObject(body) &&
    !('pendingSignals' in body) &&
    res.statusCode < 400 &&
    !/^\/v1\/inbox\b/i.test(req.originalUrl)
  )
}

function signalsOf({ pendingSignals }: { [key: string]: unknown }): readonly { signal_id: string }[] {
  return Array.isArray(pendingSignals) ? pendingSignals : []
}

/** Nobody has read an answer that was not written to its end. */
function watch(
  { db }: PiggybackContext,
  log: Logger,
  res: Response,
  agentId: string,
  signals: readonly { signal_id: string }[],
): void {
  if (signals.length === 0) return
  const ids = signals.map((signal) => signal.signal_id)
  let written = false
  res.once('finish', () => {
    written = true
  })
  // Node calls an answer finished whose connection was reset while it was written. One that became a refusal carried no mail.
  const { socket } = res.req
  const undo = (): void => {
    if (written && !socket.errored && res.statusCode < 400) return
    returnToWaiting(db, agentId, ids).catch((error: unknown) => log.warn({ err: error, agentId }, 'mail.return_failed'))
  }
  if (res.closed) undo()
  else res.once('close', undo)
}
