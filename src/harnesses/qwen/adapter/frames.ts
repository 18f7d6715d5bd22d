import { isJsonObject, type JsonObject } from '../../../lib/json.ts'

/** The version of the frames. A frame of a later one is not understood. */
const version = 1

const deliveryStatuses = ['held', 'delivered', 'denied', 'refused', 'expired', 'misaddressed', 'dropped'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

/** The report of a session about a message that it was sent. Source: Qwen's cross-session protocol, §5. */
export interface Receipt {
  readonly status: DeliveryStatus
  /** Why, for people. */
  readonly reason: string
}

interface UserFrame {
  readonly msgId: string
  readonly toSessionId: string
  readonly content: string
  /** Where receipts go, and what opens it. */
  readonly from: string
  readonly replyToken: string
}

export const authLine = (token: string): string => `${JSON.stringify({ msgV: version, type: 'auth', token })}\n`

/** A message. It asserts no mode of its own: who it comes from is what the token says. */
export function userLine({ msgId, toSessionId, content, from, replyToken }: UserFrame): string {
  const message = { role: 'user', content }
  const frame = {
    msgV: version,
    msgId,
    type: 'user',
    from,
    replyToken,
    fromName: 'rouse',
    toSessionId,
    priority: 'next',
    message,
  }
  return `${JSON.stringify(frame)}\n`
}

/** The token of a first line; undefined: it is none. Pure. */
export function tokenIn(line: string): string | undefined {
  const frame = parse(line)
  return frame?.type === 'auth' && typeof frame.token === 'string' ? frame.token : undefined
}

/** The receipts in a line, one for each message that it settles; none in another line, or for a status that is not known here. Pure. */
export function receiptsIn(line: string): { readonly msgId: string; readonly receipt: Receipt }[] {
  const frame = parse(line)
  if (frame?.type !== 'control' || frame.action !== 'delivery_status') return []
  const status = deliveryStatuses.find((one) => one === frame.status)
  if (!status || typeof frame.origMsgId !== 'string') return []
  const others =
    status === 'dropped' && Array.isArray(frame.droppedMsgIds) ? frame.droppedMsgIds.slice(0, droppedMax) : []
  const why = status === 'dropped' && typeof frame.dropReason === 'string' ? `${frame.dropReason}: ` : ''
  const reason = `${why}${typeof frame.reason === 'string' ? frame.reason : status}`
  const ids = [frame.origMsgId, ...others.filter((id) => typeof id === 'string')]
  return ids.map((msgId) => ({ msgId: canonical(msgId), receipt: { status, reason } }))
}

/** Ids are compared without dashes and case. */
export const canonical = (msgId: string): string => msgId.replaceAll('-', '').toLowerCase()

const droppedMax = 256

function parse(line: string): JsonObject | undefined {
  try {
    const frame: unknown = JSON.parse(line)
    return isJsonObject(frame) && typeof frame.msgV === 'number' && frame.msgV <= version ? frame : undefined
  } catch {
    return undefined
  }
}
