import { Router } from 'express'
import { Problem } from '../../errors.ts'
import { readInbox } from '../../mailbox/inbox.ts'
import { requireAddressed } from '../../registry/agents/addresses.ts'
import { type Caller, operates } from '../../registry/callers/caller.ts'
import { mayReadInbox } from '../../registry/permissions/grants.ts'
import type { Database, Reader } from '../../storage/database.ts'
import { noteTarget } from '../access/rest-access.ts'
import { callerOf } from '../auth.ts'
import { onlyMethods } from '../method-not-allowed.ts'
import { parse } from '../validate.ts'
import { inboxQuery } from './mail-schemas.ts'
import { inboxView } from './mail-views.ts'

const limitDefault = 50

/** `/v1/inbox`: the mail of the caller, or of an agent that lets it read. What is unread is a queue, oldest first; all of it a history. */
export function inboxRoutes(db: Database): Router {
  const router = Router()
  router.get('/', async (req, res) => {
    const query = parse(inboxQuery, req.query)
    const { thread, signalType, type, since, limit = limitDefault } = query
    noteTarget(res, query.agent ?? '')
    const unread = query.unread === 'true' || query.unread === '1'
    const caller = callerOf(res)
    const { mails, more } = await readInbox(db, {
      agentId: await ownerId(db, caller, query.agent),
      unread,
      threadId: thread,
      signalType,
      type,
      since,
      order: query.order ?? (unread ? 'oldest' : 'newest'),
      after: query.pageToken,
      limit,
    })
    // Operators share one mailbox. What is in it of a project is for those who have the project.
    const own = mails.filter(({ message }) => caller.kind === 'agent' || operates(caller, message.projectId))
    res.json({ messages: own.map(inboxView), nextPageToken: more ? mails.at(-1)!.message.id : '' })
  })
  router.all('/', onlyMethods('GET'))
  return router
}

/** Another's inbox takes its grant; the operator needs none in its project. Source: S1-26. */
async function ownerId(db: Reader, caller: Caller, name: string | undefined): Promise<string> {
  if (name === undefined) return caller.id
  const agent = await requireAddressed(db, caller, name, 'agent')
  if (await mayReadInbox(db, caller, agent)) return agent.id
  throw new Problem('forbidden', {
    field: 'agent',
    detail: `agent: ${agent.handle} has not granted you CAN_READ_INBOX_OF. Leave agent out for your own inbox.`,
  })
}
