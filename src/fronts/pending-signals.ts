import type { Request, RequestHandler, Response } from 'express'
import { Problem } from '../errors.ts'
import { isJsonObject } from '../lib/json.ts'
import type { Logger } from '../logger.ts'
import { type PiggybackContext, takePiggyback } from '../mailbox/delivery/piggyback.ts'
import { returnToWaiting } from '../mailbox/delivery/return-to-waiting.ts'
import { countWaiting } from '../mailbox/delivery/waiting-store.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { callerOf } from './auth.ts'

/** The header that says what a call takes of the waiting mail, and in which the answer has the number that was asked for. */
const header = 'Rouse-Pending-Signals'

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
        if (isJsonObject(body)) watch(context, log, res, caller.id, signalsOf(body))
        return send(body)
      }
      const adding = wanted === 'count' ? addCount(context, res, caller) : addMail(context, log, res, caller)
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

/** Takes the waiting mail for an answer. Returns the fields to add to it. */
async function addMail(context: PiggybackContext, log: Logger, res: Response, caller: Caller): Promise<object> {
  const signals = await takePiggyback(context, caller.id)
  watch(context, log, res, caller.id, signals)
  return signals.length === 0 ? {} : { pendingSignals: signals }
}

/** Puts the number of waiting messages into a header of the answer. Marks nothing. */
async function addCount({ db }: PiggybackContext, res: Response, caller: Caller): Promise<object> {
  res.setHeader(header, await countWaiting(db, caller.id, countMax))
  return {}
}

/** What a call takes of the mail that waits. Errors: `invalid-request` for another word. */
function wantedBy(req: Request): 'all' | 'none' | 'count' {
  const word = req.get(header)?.trim().toLowerCase()
  if (word === undefined) return 'all'
  if (word === 'none' || word === 'count') return word
  throw new Problem('invalid-request', {
    field: header,
    detail: `${header}: is "none" or "count". Leave the header out to get the messages with the answer.`,
  })
}

/**
 * Only a key with `read` and `work` gets mail: that is a harness. If another key of the agent got the mail, the harness would miss
 * it. A key with `read` may count it.
 */
function mayAsk({ kind, scopes }: Caller, wanted: 'all' | 'none' | 'count'): boolean {
  return kind === 'agent' && scopes.includes('read') && (wanted === 'count' || scopes.includes('work'))
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
