import type { Reader } from '../../storage/database.ts'
import { joined, p, sql, statement } from '../../storage/statement.ts'
import { senderColumn, threadColumn } from '../messages/message-store.ts'

/** An unread message to the operator. */
interface OperatorMail {
  /** Its project and its sender. */
  readonly origin: string
  readonly messageId: string
  readonly projectId: string
  readonly senderId: string
  /** null: the sender is removed. */
  readonly from: string | null
  readonly threadId: string
  readonly subject: string
  /** The beginning of its body. */
  readonly body: string | null
  readonly createdAt: number
  /** The unread messages of its origin, `most` at most. */
  readonly total: number
}

interface Share {
  /** The first and the last origin that are read. */
  readonly first: string
  readonly last: string
  /** Only messages after this one. */
  readonly after: string
  /** The most messages of an origin. */
  readonly limit: number
  readonly most: number
}

// Only mail of the operator has an origin. With its agent as a condition, SQLite reads the index of all its unread mail.
const unread = sql.raw(`/*postgres r.agent_id = 'operator' and */r.status = 'sent'`)
const from = sql`from message_recipient r where ${unread}`
// One step for each origin, and a share of its messages: the number of all messages does not matter.
const shares = statement<Share & { readonly skipped: number }, OperatorMail>(sql`with recursive one(origin) as (
    select (select min(r.origin) ${from} and r.origin >= ${p('first')} and r.origin <= ${p('last')})
    union all
    select (select min(r.origin) ${from} and r.origin > one.origin and r.origin <= ${p('last')}) from one where one.origin is not null
  ), share(origin, up_to, total) as (select one.origin,
    coalesce((select r.message_id ${from} and r.origin = one.origin and r.message_id > ${p('after')}
      order by r.message_id limit 1 offset ${p('skipped')}), 'N'),
    (select count(*) from (select 1 ${from} and r.origin = one.origin limit ${p('most')}) as counted)
    from one where one.origin is not null)
  select share.origin, m.id as "messageId", m.project_id as "projectId", m.sender_id as "senderId", ${senderColumn} as "from",
    ${threadColumn} as "threadId", m.subject, substr(m.body, 1, 4000) as body, m.created_at as "createdAt", share.total
  from share cross join message_recipient r cross join message m left join agent a on a.id = m.sender_id
  where ${unread} and r.origin = ${joined('share.origin')} and r.message_id > ${p('after')} and r.message_id <= share.up_to and m.id = r.message_id
  order by share.origin, r.message_id`)

/** Returns a share of the unread mail that the operator has of each sender in each project, the oldest first. */
export function readOperatorMail(db: Reader, share: Share): Promise<OperatorMail[]> {
  return db.all(shares, { ...share, skipped: share.limit - 1 })
}
