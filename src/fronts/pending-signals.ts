import type { Request, RequestHandler, Response } from 'express'
import { isJsonObject } from '../lib/json.ts'
import type { Logger } from '../logger.ts'
import { type PiggybackContext, takePiggyback } from '../mailbox/delivery/piggyback.ts'
import { returnToWaiting } from '../mailbox/delivery/return-to-waiting.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { callerOf } from './auth.ts'

/**
 * Adds the mail that waits for an agent to the answer of its request, as `pendingSignals`. The mail is marked as delivered before
 * the answer is written. If the connection breaks before the answer was sent, the mail waits again. Source: S2-14.
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
          // The answer itself is not affected: the mail waits for the next one.
          log.warn({ err: error, agent: caller.identity }, 'mail.piggyback_failed')
          return []
        })
        .then((signals) => {
          watch(context, log, res, caller.id, signals)
          send(signals.length === 0 ? body : { ...(body as object), pendingSignals: signals })
        })
        // If the answer cannot be written, only this request fails.
        .catch(next)
      return res
    }
    next()
  }
}

/** Only a key with `read` and `work` gets mail: that is a harness. If another key of the agent got the mail, the harness would miss it. */
function takesMail({ kind, scopes }: Caller): boolean {
  return kind === 'agent' && scopes.includes('read') && scopes.includes('work')
}

/** Answers without piggyback: the inbox is the mail itself, the start of a session has drained it, and whoever reads a stream of wakes starts the harness. */
function mayCarry(req: Request, res: Response, body: unknown): boolean {
  return (
    isJsonObject(body) &&
    !('pendingSignals' in body) &&
    res.statusCode < 400 &&
    !/^\/v1\/(inbox|wake-stream)\b/i.test(req.originalUrl)
  )
}

function signalsOf({ pendingSignals }: { [key: string]: unknown }): readonly { signal_id: string }[] {
  return Array.isArray(pendingSignals) ? pendingSignals : []
}

/** Calls back when the answer was not written to its end: then nobody has read the mail. */
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
  // Node also reports an answer as finished if its connection was reset meanwhile. An answer that became a refusal had no mail.
  const { socket } = res.req
  const undo = (): void => {
    if (written && !socket.errored && res.statusCode < 400) return
    returnToWaiting(db, agentId, ids).catch((error: unknown) => log.warn({ err: error, agentId }, 'mail.return_failed'))
  }
  if (res.closed) undo()
  else res.once('close', undo)
}
