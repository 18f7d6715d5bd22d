import { sizeLimits } from '../../limits.ts'
import type { Reader } from '../../storage/database.ts'
import { type InboxMail, type InboxPage, type InboxQuery, readInbox } from './inbox.ts'

/** How many messages one page looks at, unless they are large. Bounds what it costs to find a concept that hardly any mail has. */
const scannedMax = 1_000
const scanPage = 100

/**
 * Reads a page of an agent's mail that carries a concept. A page may be short, even empty, and not be the last one. Source: S1-47.
 */
export async function readTaggedInbox(db: Reader, query: InboxQuery, concept: string): Promise<InboxPage> {
  const mails: InboxMail[] = []
  let after = query.after
  let size = 0
  for (let scanned = 0; scanned < scannedMax && size < sizeLimits.page.max; ) {
    const page = await readInbox(db, { ...query, after, limit: scanPage })
    scanned += page.mails.length
    size += page.size
    for (const [index, mail] of page.mails.entries()) {
      after = mail.message.id
      if (!mail.message.taggedConcepts.includes(concept)) continue
      mails.push(mail)
      const isLast = index === page.mails.length - 1 && !page.more
      if (mails.length === query.limit) return { mails, more: !isLast, size, last: after }
    }
    if (!page.more) return { mails, more: false, size, last: after }
    await new Promise(setImmediate)
  }
  return { mails, more: true, size, last: after }
}
