import { giveBackUsage } from '../admission/usage-store.ts'
import { messageIdFloor } from '../lib/ids.ts'
import type { Database, Transaction } from '../storage/database.ts'
import { deleteInBatches } from '../storage/delete-in-batches.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'
import type { MailArchive } from './archive.ts'
import { pruneBuckets } from './limits/bucket-store.ts'
import { mailBytes } from './messages/mail-bytes.ts'

const pageMax = 200
/** How long counters are kept that no longer limit anybody. */
const bucketMs = 24 * 60 * 60 * 1000

// `open`: a recipient that still exists has not got it, or got it too recently. The operator always exists.
const agedPage = statement<
  { after: string; before: string; beforeMs: number; limit: number },
  { id: string; open: number }
>(sql`select m.id, case when exists (select 1 from message_recipient r where r.message_id = m.id
      and (r.delivered_at is null or r.delivered_at >= ${p('beforeMs')})
      and (r.agent_id = 'operator' or exists (select 1 from agent a where a.id = r.agent_id))) then 1 else 0 end as "open"
  from message m where m.id > ${p('after')} and m.id < ${p('before')} order by m.id ${limited}`)
const removeRecipients = statement<{ messageId: string; limit: number }>(sql`delete from message_recipient
  where message_id = ${p('messageId')} and agent_id <= (select max(agent_id) from (
    select agent_id from message_recipient where message_id = ${p('messageId')} order by agent_id ${limited}) page)`)
// `bytes`: what its sender stored with it; 0 for the mail of a task, whose text is stored with the task.
const removeMessage = statement<
  { id: string },
  { senderId: string; bytes: number }
>(sql`delete from message where id = ${p('id')}
  returning sender_id as "senderId", case when task_id is null then ${mailBytes} else 0 end as "bytes"`)

/**
 * Archives and deletes mail that was delivered to all of its recipients longer than `retentionMs` ago, and deletes counters that no
 * longer limit anybody. Mail that still waits for a recipient stays. Rejects when the archive cannot be written: then the mail stays
 * too. Returns how many messages it deleted. Source: S2-19.
 * @param archive undefined: the mail is deleted for good
 */
export async function pruneMessages(
  db: Database,
  now: number,
  retentionMs: number,
  signal: AbortSignal,
  archive?: MailArchive,
): Promise<number> {
  await pruneBuckets(db, now, bucketMs, signal)
  if (retentionMs === 0) return 0
  const beforeMs = now - retentionMs
  const before = messageIdFloor(beforeMs)
  let pruned = 0
  for (let after = ''; !signal.aborted; ) {
    const page = await db.all(agedPage, { after, before, beforeMs, limit: pageMax })
    const done = page.filter(({ open }) => open === 0).map(({ id }) => id)
    await archive?.keep(db, done)
    await deleteInBatches(db, done, removeOne, signal)
    pruned += done.length
    const last = page.at(-1)
    if (!last || page.length < pageMax) break
    after = last.id
    await new Promise(setImmediate)
  }
  return pruned
}

async function removeOne(tx: Transaction, messageId: string, limit: number): Promise<number> {
  const rows = await tx.run(removeRecipients, { messageId, limit })
  if (rows === limit) return rows
  const gone = await tx.get(removeMessage, { id: messageId })
  if (gone && gone.bytes > 0) await giveBackUsage(tx, gone.senderId, gone.bytes)
  return rows + 1
}
