import type { JsonObject } from '../../../lib/json.ts'
import { compact, cutBody, withinBytes } from './compact.ts'

/** The most that a page of mail shows of one body, and of all messages together. */
const bodyBytes = 8_000
const pageBytes = 36_000

interface MailPage {
  readonly messages: readonly { readonly messageId: string; readonly body: string | null }[]
  readonly nextPageToken: string
}

/** A page of mail: long bodies cut, and as many messages as a model can read at once. The next page begins after them. Pure. */
export function mailPage({ messages, nextPageToken }: MailPage): { messages: JsonObject[]; nextPageToken?: string } {
  const all = messages.map(shortMail)
  const shown = withinBytes(all, pageBytes)
  // Pages of mail are positions: the id of the last message that was shown.
  const next = shown.length < all.length ? String(shown.at(-1)?.messageId) : nextPageToken
  return { messages: shown, ...(next === '' ? {} : { nextPageToken: next }) }
}

function shortMail({ body, ...message }: { readonly messageId: string; readonly body: string | null }): JsonObject {
  const whole = `read_thread with messageId ${message.messageId} shows it`
  const fields = cutFields(mailFields(message), bodyBytes, whole)
  return { ...fields, ...(body === null ? {} : { body: cutBody(body, bodyBytes, whole) }) }
}

/** The fields of a message that a model needs: not the way by which it came. Pure. */
export function mailFields(message: object): JsonObject {
  const { fromSession, sessionId, deliveredAt, deliveryMethod, receipt, isBroadcast, ...rest } = message as JsonObject
  return { ...compact(rest), ...(isBroadcast === true ? { isBroadcast } : {}) }
}

/** The most that the texts of waiting mail take of a result, and the mail with all of its fields. */
const signalsBytes = 24_000
const allSignalsBytes = 44_000

/**
 * Waiting mail as a result carries it. None is left out, whatever its senders put into it: it counts as delivered. Where all of it
 * would be too much, each message has what is needed to read it. Pure.
 */
export function shortSignals(signals: readonly JsonObject[]): JsonObject[] {
  const count = Math.max(1, signals.length)
  const each = Math.max(500, Math.floor(signalsBytes / count))
  const short = signals.map((signal) => shortSignal(signal, each))
  if (bytesOf(short) <= allSignalsBytes) return short
  const subjectBytes = Math.min(200, Math.floor(10_000 / count))
  return signals.map((signal) => leastOf(signal, subjectBytes))
}

function shortSignal(signal: JsonObject, each: number): JsonObject {
  const { body } = signal
  const whole = wholeOf(signal)
  const cut = cutFields(signal, each, whole)
  return compact({ ...cut, ...(typeof body === 'string' ? { body: cutBody(body, each, whole) } : {}) })
}

/** A message whose payload and concepts are left out if they are large. */
function cutFields(message: JsonObject, each: number, whole: string): JsonObject {
  const { payload, taggedConcepts } = message
  return {
    ...message,
    ...(bytesOf(payload) > each ? { payload: { cut: `${bytesOf(payload)} bytes. ${whole}` } } : {}),
    ...(bytesOf(taggedConcepts) > each ? { taggedConcepts: [`cut. ${whole}`] } : {}),
  }
}

function leastOf(signal: JsonObject, subjectBytes: number): JsonObject {
  const { signal_id, from, type, subject, task_id, created_at } = signal
  const whole = wholeOf(signal)
  return compact({
    signal_id,
    from,
    type,
    subject: cutBody(String(subject), subjectBytes, ''),
    task_id,
    created_at,
    cut: whole,
  })
}

const wholeOf = ({ signal_id: id }: JsonObject): string => `read_thread with messageId ${id} shows it`

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value ?? null))
