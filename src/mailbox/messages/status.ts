import { Problem } from '../../errors.ts'

export const messageStatuses = ['sent', 'seen', 'acked', 'resolved', 'superseded'] as const
/** How far a recipient has come with a message. Only the recipient moves it. Source: S4-6. */
export type MessageStatus = (typeof messageStatuses)[number]

/** What a recipient may say. A message is `sent` by itself. */
export const reportableStatuses = ['seen', 'acked', 'resolved', 'superseded'] as const
export type ReportableStatus = (typeof reportableStatuses)[number]

/** Who may follow whom: forward only. A jump stands for the steps that it passes. Source: S4-6. */
export const messageTransitions = {
  sent: ['seen', 'acked', 'resolved', 'superseded'],
  seen: ['acked', 'resolved', 'superseded'],
  acked: ['resolved', 'superseded'],
  resolved: [],
  superseded: [],
} as const satisfies Record<MessageStatus, readonly ReportableStatus[]>

/** The states that a status can be reached from. */
export function predecessorsOf(to: ReportableStatus): MessageStatus[] {
  return messageStatuses.filter((from) => (messageTransitions[from] as readonly MessageStatus[]).includes(to))
}

/** What a report does: `moved` on, or `same` when it was said before. Throws `invalid-transition` naming what is allowed. Pure. */
export function report(from: MessageStatus, to: ReportableStatus): 'moved' | 'same' {
  if (from === to) return 'same'
  const allowed: readonly MessageStatus[] = messageTransitions[from]
  if (allowed.includes(to)) return 'moved'
  const next = allowed.length === 0 ? 'It stays so.' : `Next can be ${allowed.join(', ')}.`
  throw new Problem('message-status-conflict', {
    field: 'status',
    detail: `status: the message is ${from} and cannot become ${to}. ${next}`,
    extra: { from, allowed },
  })
}

export const receipts = ['accepted', 'routed', 'written', 'turn_started', 'seen', 'acked', 'resolved'] as const
/** The evidence for a delivery, weakest first. What is known is never told as something stronger. Source: D11. */
export type Receipt = (typeof receipts)[number]

const receiptOfStatus: Record<MessageStatus, Receipt> = {
  sent: 'accepted',
  seen: 'seen',
  acked: 'acked',
  resolved: 'resolved',
  superseded: 'acked',
}

/** The strongest evidence there is: what a channel reported, or the recipient's own word. Pure. */
export function receiptOf(recipient: { status: MessageStatus; receipt: Receipt }): Receipt {
  const word = receiptOfStatus[recipient.status]
  return receipts.indexOf(word) > receipts.indexOf(recipient.receipt) ? word : recipient.receipt
}

/** Whether a receipt proves that the message came across: a channel wrote it, or the recipient has it. */
export function isDelivered(receipt: Receipt): boolean {
  return receipts.indexOf(receipt) >= receipts.indexOf('written')
}
