import type { Response } from 'express'
import { Problem } from '../../errors.ts'
import { isJsonObject } from '../../lib/json.ts'
import type { MailContext } from '../../mailbox/context.ts'
import { takePiggyback } from '../../mailbox/delivery/piggyback.ts'
import { returnToWaiting } from '../../mailbox/delivery/return-to-waiting.ts'
import { type PreemptedSession, takeSessionMail } from '../../mailbox/delivery/session-mail.ts'
import { countWaiting } from '../../mailbox/delivery/waiting-store.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import type { PendingSignal } from '../../words/mail.ts'
import type { FrontContext } from '../front-context.ts'

/** The header in which a call says how much waiting mail it takes, and in which the answer has the number of waiting messages. */
const pendingSignalsHeader = 'Rouse-Pending-Signals'

/** The part of the waiting mail that a call takes. */
type MailPart = 'all' | 'none' | 'count'

/** The most that is counted: the number means "this many, or more" then. */
const countMax = 100

/** Has `undo` called, once, if an answer with this status does not reach its client. */
export type WhenUnsent = (status: number, undo: () => void) => void

/** The part of a call that decides about the mail in its answer. */
interface MailCall {
  readonly caller: Caller
  readonly method: string
  /** Without its query: `/v1/inbox`. */
  readonly path: string
  readonly wanted: MailPart
  readonly whenUnsent: WhenUnsent
}

/** The content of an answer, and the headers that go with it. */
interface Carried {
  readonly view: unknown
  readonly headers: Readonly<Record<string, string>>
}

/** Returns the word of the header, in lower case. */
export function mailWord(header: (name: string) => string | undefined): string | undefined {
  return header(pendingSignalsHeader)?.trim().toLowerCase()
}

/** Returns what a call takes of the waiting mail. Errors: `invalid-request` for another word. */
export function wantedBy(header: (name: string) => string | undefined): MailPart {
  const word = mailWord(header)
  if (word === undefined) return 'all'
  if (word === 'none' || word === 'count') return word
  throw new Problem('invalid-request', {
    field: pendingSignalsHeader,
    detail: `${pendingSignalsHeader}: is "none" or "count". Leave the header out to get the messages with the answer.`,
  })
}

/**
 * Adds the mail that waits for an agent to the answer of its call, as `pendingSignals`. The mail is marked as delivered before the
 * answer is sent, and waits again if the answer does not reach the client. A call that does not read mail says so: with
 * `Rouse-Pending-Signals: none` nothing is added, with `count` the answer has the number in the same header. Neither marks
 * anything. Source: S2-14, D11.
 */
export async function withMail(
  context: Pick<FrontContext, 'mail' | 'log'>,
  call: MailCall,
  status: number,
  view: unknown,
): Promise<Carried> {
  const plain = { view, headers: {} }
  if (!isJsonObject(view)) return plain
  if (Array.isArray(view.pendingSignals)) returnUnread(context, call, status, view.pendingSignals)
  if (call.wanted === 'none' || !mayAsk(call) || !mayCarry(call, view)) return plain
  const { mail, log } = context
  try {
    if (call.wanted === 'count') {
      return {
        view,
        headers: { [pendingSignalsHeader]: String(await countWaiting(mail.db, call.caller.id, countMax)) },
      }
    }
    const pendingSignals = await takeMail(mail, call, view)
    returnUnread(context, call, status, pendingSignals)
    return pendingSignals.length === 0 ? plain : { view: { ...view, pendingSignals }, headers: {} }
  } catch (error) {
    // The answer itself is not affected: the mail waits for the next one.
    log.warn({ err: error, agent: call.caller.identity }, 'mail.piggyback_failed')
    return plain
  }
}

/**
 * Adds the signal that waits for a preempted session to the refusal of a call that names this session. As with any answer, the key
 * must be one that takes mail, and no header may decline it. Source: D26.
 */
export async function withSessionMail(
  context: Pick<FrontContext, 'mail' | 'log'>,
  call: MailCall,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof Problem) || error.code !== 'session-ended') return error
  const session = preemptedSessionOf(error.extra)
  if (!session || call.wanted !== 'all' || !mayAsk(call)) return error
  const { mail, log } = context
  try {
    const pendingSignals = await takeSessionMail(mail.db, call.caller.id, session)
    if (pendingSignals.length === 0) return error
    const { status, message: detail, extra } = error
    returnUnread(context, call, status, pendingSignals)
    return new Problem('session-ended', { detail, extra: { ...extra, pendingSignals }, cause: error })
  } catch (failure) {
    // The refusal itself names the newer session.
    log.warn({ err: failure, agent: call.caller.identity }, 'mail.piggyback_failed')
    return error
  }
}

/** Returns what reports an answer over HTTP that was not written to its end: then nobody has read it. */
export function unsentOver(res: Response): WhenUnsent {
  return (status, undo) => {
    let written = false
    res.once('finish', () => {
      written = true
    })
    // Node also reports an answer as finished if its connection was reset meanwhile. An answer with another status is a refusal
    // that replaced this one: it had no mail.
    const { socket } = res.req
    const look = (): void => {
      if (!written || socket.errored || res.statusCode !== status) undo()
    }
    if (res.closed) look()
    else res.once('close', look)
  }
}

/**
 * Only a key with `read` and `work` gets mail: that is a harness. If another key of the agent got the mail, the harness would miss
 * it. A key with `read` may count it.
 */
function mayAsk({ caller: { kind, scopes }, wanted }: MailCall): boolean {
  return kind === 'agent' && scopes.includes('read') && (wanted === 'count' || scopes.includes('work'))
}

/**
 * True when an answer may carry mail. Not the inbox, which lists it; not the start of a session, which has drained it; not the stream
 * of wakes, whose reader is not the harness itself.
 */
function mayCarry({ path, method }: MailCall, view: object): boolean {
  return method !== 'HEAD' && !('pendingSignals' in view) && !/^\/v1\/(inbox|wake-stream)\b/i.test(path)
}

/**
 * Takes the waiting mail for an answer. A preempted process that ends its session gets the mail to that session, and none of the
 * newer one. Source: D26.
 */
function takeMail(mail: MailContext, { caller, method }: MailCall, view: object): Promise<PendingSignal[]> {
  const preempted = method === 'DELETE' ? preemptedSessionOf({ ...view }) : undefined
  return preempted ? takeSessionMail(mail.db, caller.id, preempted) : takePiggyback(mail, caller.id)
}

/** Returns the session that an answer or a refusal reports as preempted, if it does. */
function preemptedSessionOf(fields: Readonly<Record<string, unknown>>): PreemptedSession | undefined {
  const { sessionId, reason, endedAt } = fields
  if (reason !== 'preempted' || typeof sessionId !== 'string' || typeof endedAt !== 'string') return undefined
  return { id: sessionId, endedAt: Date.parse(endedAt) }
}

/** Makes mail wait again if its answer does not reach the client. */
function returnUnread(
  { mail: { db }, log }: Pick<FrontContext, 'mail' | 'log'>,
  { caller: { id: agentId }, whenUnsent }: MailCall,
  status: number,
  signals: readonly { readonly signal_id: string }[],
): void {
  if (signals.length === 0) return
  const ids = signals.map((signal) => signal.signal_id)
  whenUnsent(status, () => {
    returnToWaiting(db, agentId, ids).catch((error: unknown) => log.warn({ err: error, agentId }, 'mail.return_failed'))
  })
}
