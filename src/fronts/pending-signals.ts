import type { Request, RequestHandler, Response } from 'express'
import { isJsonObject } from '../lib/json.ts'
import type { Logger } from '../logger.ts'
import { type PiggybackContext, takePiggyback } from '../mailbox/delivery/piggyback.ts'
import { takeSessionMail } from '../mailbox/delivery/session-mail.ts'
import { countWaiting } from '../mailbox/delivery/waiting-store.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { mayAsk, pendingSignalsHeader, returnUnread, wantedBy } from './answer-mail.ts'
import { callerOf } from './auth.ts'
import { preemptedSessionOf } from './session-mail.ts'

/** The most that is counted: the number means "this many, or more" then. */
const countMax = 100

/**
 * Adds the mail that waits for an agent to the answer of its request, as `pendingSignals`. The mail is marked as delivered before
 * the answer is written. If the connection breaks before the answer was sent, the mail waits again. A call that does not read
 * mail says so: with `Rouse-Pending-Signals: none` nothing is added, with `count` the answer has the number in the same header.
 * Neither marks anything. Source: S2-14, D11.
 */
export function pendingSignals(context: PiggybackContext, log: Logger): RequestHandler {
  return (req, res, next) => {
    const caller = callerOf(res)
    const wanted = wantedBy(req)
    if (!mayAsk(caller, wanted) || req.method === 'HEAD') return next()
    const send = res.json.bind(res)
    res.json = (body: unknown) => {
      if (wanted === 'none' || !mayCarry(req, res, body)) {
        if (isJsonObject(body)) returnUnread(context.db, log, res, { agentId: caller.id, signals: signalsOf(body) })
        return send(body)
      }
      const adding = wanted === 'count' ? addCount(context, res, caller) : addMail(context, log, res, body as object)
      adding
        .catch((error: unknown) => {
          // The answer itself is not affected: the mail waits for the next one.
          log.warn({ err: error, agent: caller.identity }, 'mail.piggyback_failed')
          return {}
        })
        .then((more) => send({ ...(body as object), ...more }))
        // If the answer cannot be written, only this request fails.
        .catch(next)
      return res
    }
    next()
  }
}

/**
 * Takes the waiting mail for an answer. Returns the fields to add to it. A preempted process that ends its session gets the mail to
 * that session, and none of the newer one. Source: D26.
 */
async function addMail(context: PiggybackContext, log: Logger, res: Response, body: object): Promise<object> {
  const { id: agentId } = callerOf(res)
  const preempted = res.req.method === 'DELETE' ? preemptedSessionOf({ ...body }) : undefined
  const signals = preempted
    ? await takeSessionMail(context.db, agentId, preempted)
    : await takePiggyback(context, agentId)
  returnUnread(context.db, log, res, { agentId, signals })
  return signals.length === 0 ? {} : { pendingSignals: signals }
}

/** Puts the number of waiting messages into a header of the answer. Marks nothing. */
async function addCount({ db }: PiggybackContext, res: Response, caller: Caller): Promise<object> {
  res.setHeader(pendingSignalsHeader, await countWaiting(db, caller.id, countMax))
  return {}
}

/**
 * Whether an answer may carry mail. Not the inbox, which lists it; not the start of a session, which has drained it; not the stream
 * of wakes, whose reader is not the harness itself.
 */
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
