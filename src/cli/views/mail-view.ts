import type { Io } from '../io.ts'
import { fields, table } from '../table.ts'
import { clip, paint, plain } from '../terminal-text.ts'

/** How far one recipient has come with a message. */
export interface ChainView {
  agent?: string
  status?: string
  receipt?: string
  deliveredAt?: string | null
  seenAt?: string | null
  ackedAt?: string | null
  resolvedAt?: string | null
  supersededAt?: string | null
}

/** A message as its recipient has it in an inbox, or with its recipients in a thread. */
export interface MailView extends ChainView {
  messageId: string
  threadId?: string
  from?: string
  to?: string | null
  subject?: string
  body?: string | null
  type?: string
  signalType?: string | null
  payload?: unknown
  ref?: string | null
  priority?: string
  taskId?: string | null
  recipients?: ChainView[]
  recipientCount?: number
  createdAt?: string
}

/** What the gateway answers a sender. */
export interface SentView {
  messageId: string
  threadId: string
  delivered?: boolean
  resolvedToSession?: string | null
  recipients?: ChainView[]
  recipientCount?: number
}

export function inboxTable(io: Io, mails: readonly MailView[], unread: boolean): string {
  return table(
    io,
    ['MESSAGE', 'FROM', 'TYPE', 'STATUS', 'ARRIVED', 'SUBJECT'],
    mails.map((mail) => [
      mail.messageId,
      mail.from,
      mail.signalType ?? mail.type,
      mail.status,
      mail.createdAt,
      clip(plain(mail.subject), 60),
    ]),
    unread ? 'Nothing unread.' : 'No mail yet.',
  )
}

export function threadText(io: Io, mails: readonly MailView[]): string {
  return mails.map((mail) => mailText(io, mail)).join('\n')
}

function mailText(io: Io, mail: MailView): string {
  const said = [mail.body, mail.payload ? JSON.stringify(mail.payload) : undefined].filter(Boolean).join('\n')
  const more = (mail.recipientCount ?? 0) - (mail.recipients?.length ?? 0)
  return (
    `${paint(io, 'bold', plain(mail.subject))}\n` +
    fields({
      message: mail.messageId,
      from: mail.from,
      to: mail.to,
      type: mail.signalType ?? mail.type,
      ref: mail.ref,
      task: mail.taskId,
      sent: mail.createdAt,
    }) +
    (said ? `\n${plain(said, 'lines')}\n\n` : '') +
    (mail.recipients ?? []).map((recipient) => `  → ${chainText(recipient)}\n`).join('') +
    (more > 0 ? `  → and ${more} more\n` : '')
  )
}

/** `@donna: seen 10:00 · acked 10:05`, or what is known instead. */
function chainText(chain: ChainView): string {
  const steps = [
    ['delivered', chain.deliveredAt],
    ['seen', chain.seenAt],
    ['acked', chain.ackedAt],
    ['resolved', chain.resolvedAt],
    ['superseded', chain.supersededAt],
  ].filter(([, at]) => at)
  const told = steps.map(([name, at]) => `${name} ${plain(at)}`).join(' · ')
  return `${plain(chain.agent)}: ${told || `${plain(chain.status)}, ${plain(chain.receipt)}`}`
}

export function sentText(sent: SentView): string {
  const recipients = sent.recipients ?? []
  const count = sent.recipientCount ?? recipients.length
  const who =
    recipients.length > 5 || count > recipients.length
      ? `${count} agents`
      : recipients.map(({ agent }) => agent).join(', ')
  const head = fields({
    message: sent.messageId,
    thread: sent.threadId,
    to: who || 'nobody: there is no other agent',
    receipt: recipients.length === 1 ? recipients[0]?.receipt : undefined,
    session: sent.resolvedToSession,
  })
  return `${head}Follow it: rouse thread ${plain(sent.threadId)}\n`
}
