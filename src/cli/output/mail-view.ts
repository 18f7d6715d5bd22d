import type { Io } from '../../client/io.ts'
import type { InboxMessageView, MessageView, RecipientView, SentView } from '../../client/route-types.ts'
import { clip, paint, plain } from '../../client/terminal-text.ts'
import { fields, table } from './table.ts'
import { when, whenLong } from './when.ts'

export function inboxTable(io: Io, mails: readonly InboxMessageView[], unread: boolean): string {
  return table(
    io,
    ['MESSAGE', 'FROM', 'TYPE', 'STATUS', 'ARRIVED', 'SUBJECT'],
    mails.map((mail) => [
      mail.messageId,
      personOf(mail),
      mail.signalType ?? mail.type,
      mail.status,
      when(io, mail.createdAt),
      clip(plain(mail.subject), 60),
    ]),
    unread ? 'Nothing unread.' : 'No mail yet.',
    ['TYPE', 'ARRIVED'],
  )
}

/** `@donna`, or `anna (@operator)`. */
const personOf = ({ from, person }: Pick<MessageView, 'from' | 'person'>): string =>
  person === undefined ? from : `${person} (${from})`

export function threadText(io: Io, messages: readonly MessageView[]): string {
  return messages.map((message) => messageText(io, message)).join('\n')
}

function messageText(io: Io, mail: MessageView): string {
  const said = [mail.body, mail.payload ? JSON.stringify(mail.payload) : undefined].filter(Boolean).join('\n')
  const more = mail.recipientCount - mail.recipients.length
  return (
    `${paint(io, 'bold', plain(mail.subject))}\n` +
    fields({
      message: mail.messageId,
      from: personOf(mail),
      to: mail.to,
      type: mail.signalType ?? mail.type,
      ref: mail.ref,
      task: mail.taskId,
      sent: whenLong(io, mail.createdAt),
    }) +
    (said ? `\n${plain(said, 'lines')}\n\n` : '') +
    mail.recipients.map((recipient) => `  → ${progressText(io, recipient)}\n`).join('') +
    (more > 0 ? `  → and ${more} more\n` : '')
  )
}

/** `@donna: seen 10:00 · acked 10:05`, or the status and receipt before the first step. */
function progressText(io: Io, recipient: RecipientView): string {
  const steps = [
    ['delivered', recipient.deliveredAt],
    ['seen', recipient.seenAt],
    ['acked', recipient.ackedAt],
    ['resolved', recipient.resolvedAt],
    ['superseded', recipient.supersededAt],
  ].filter(([, at]) => at)
  const known = steps.map(([name, at]) => `${name} ${when(io, at)}`).join(' · ')
  return `${plain(recipient.agent)}: ${known || `${plain(recipient.status)}, ${plain(recipient.receipt)}`}`
}

export function sentText(sent: SentView): string {
  const { recipients } = sent
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
