import { bytesOf, rowBytes } from '../../admission/usage.ts'
import { sql } from '../../storage/statement.ts'
import type { MailMessage } from './message.ts'

/** Bytes that mail takes for each recipient: a row and its indices. */
const recipientBytes = 200

/** Returns the bytes that mail takes in the store, which its sender has stored. Retention subtracts the same: `mailBytes`. */
export function bytesOfMail(message: MailMessage): number {
  const { subject, body, payload, ref, signalType, taggedConcepts, recipientCount } = message
  const texts = [subject, body, ref, signalType].reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), 0)
  const json = bytesOf(payload ?? undefined) + bytesOf(taggedConcepts)
  return rowBytes + recipientCount * recipientBytes + texts + json
}

/** `bytesOfMail` of a row of `message`. */
export const mailBytes = sql.raw(`${rowBytes} + recipient_count * ${recipientBytes} + octet_length(subject)
  + octet_length(coalesce(body, '')) + octet_length(coalesce(ref, '')) + octet_length(coalesce(signal_type, ''))
  + octet_length(coalesce(payload, '')) + octet_length(tagged_concepts)`)
