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
  return { ...mailFields(message), ...(body === null ? {} : { body: cutBody(body, bodyBytes, whole) }) }
}

/** What a model needs to know of a message: not by which way it came. Pure. */
export function mailFields(message: object): JsonObject {
  const { fromSession, sessionId, deliveredAt, deliveryMethod, receipt, isBroadcast, ...rest } = message as JsonObject
  return { ...compact(rest), ...(isBroadcast === true ? { isBroadcast } : {}) }
}

/** The most that waiting mail takes of a result. */
const signalsBytes = 24_000

/** Waiting mail as a result carries it. None is left out: it counts as delivered. Pure. */
export function shortSignals(signals: readonly JsonObject[]): JsonObject[] {
  const each = Math.max(500, Math.floor(signalsBytes / Math.max(1, signals.length)))
  return signals.map((signal) => {
    const whole = `read_thread with messageId ${signal.signal_id} shows it`
    const payload = JSON.stringify(signal.payload ?? {})
    return compact({
      ...signal,
      ...(typeof signal.body === 'string' ? { body: cutBody(signal.body, each, whole) } : {}),
      ...(payload.length > each ? { payload: { cut: `${payload.length} characters. ${whole}` } } : {}),
    })
  })
}
