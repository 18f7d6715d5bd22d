import { Problem } from '../../errors.ts'
import { type MessageStatus, messageStatuses, type Receipt, type ReportableStatus, receipts } from '../../words/mail.ts'

/** The allowed next statuses: forward only. A jump includes the steps in between. Source: S4-6. */
export const messageTransitions = {
  sent: ['seen', 'acked', 'resolved', 'superseded'],
  seen: ['acked', 'resolved', 'superseded'],
  acked: ['resolved', 'superseded'],
  resolved: [],
  superseded: [],
} as const satisfies Record<MessageStatus, readonly ReportableStatus[]>

/** Returns the statuses from which a status can be reached. */
export function predecessorsOf(to: ReportableStatus): MessageStatus[] {
  return messageStatuses.filter((from) => (messageTransitions[from] as readonly MessageStatus[]).includes(to))
}

/** Decides what a report does: `moved`, or `same` for a repeat. Throws `message-status-conflict` naming what is allowed. Pure. */
export function report(from: MessageStatus, to: ReportableStatus): 'moved' | 'same' {
  if (from === to) return 'same'
  const allowed: readonly MessageStatus[] = messageTransitions[from]
  if (allowed.includes(to)) return 'moved'
  const next = allowed.length === 0 ? 'This status is final.' : `Next can be ${allowed.join(', ')}.`
  throw new Problem('message-status-conflict', {
    field: 'status',
    detail: `status: the message is ${from} and cannot become ${to}. ${next}`,
    extra: { from, allowed },
  })
}

const receiptOfStatus: Record<MessageStatus, Receipt> = {
  sent: 'accepted',
  seen: 'seen',
  acked: 'acked',
  resolved: 'resolved',
  // It says that the message was seen. Whether it was acknowledged before is in `ackedAt`.
  superseded: 'seen',
}

/** Returns the strongest evidence: a channel's, or the status that the recipient reported. Pure. */
export function receiptOf(recipient: { status: MessageStatus; receipt: Receipt; ackedAt: number | null }): Receipt {
  const isAcked = recipient.status === 'superseded' && recipient.ackedAt !== null
  const reported = isAcked ? 'acked' : receiptOfStatus[recipient.status]
  return receipts.indexOf(reported) > receipts.indexOf(recipient.receipt) ? reported : recipient.receipt
}

/** True when a receipt proves delivery: a channel wrote the message, or the recipient reported a status. */
export function isDelivered(receipt: Receipt): boolean {
  return receipts.indexOf(receipt) >= receipts.indexOf('written')
}
