import { Router } from 'express'
import { readThreadPage } from '../../mailbox/read-mail.ts'
import type { Database } from '../../storage/database.ts'
import { callerOf } from '../auth.ts'
import { onlyMethods } from '../method-not-allowed.ts'
import { parse } from '../validate.ts'
import { mailPageQuery } from './mail-schemas.ts'
import { mailView } from './mail-views.ts'

const limitDefault = 50

/** `/v1/threads/{id}`: a conversation, oldest first, with how far each message has come. */
export function threadRoutes(db: Database): Router {
  const router = Router()
  router.get('/:id', async (req, res) => {
    const { limit = limitDefault, pageToken = '' } = parse(mailPageQuery, req.query)
    const { mails, more } = await readThreadPage(db, callerOf(res), req.params.id, pageToken, limit)
    res.json({
      threadId: req.params.id,
      messages: mails.map(mailView),
      nextPageToken: more ? mails.at(-1)!.message.id : '',
    })
  })
  router.all('/:id', onlyMethods('GET'))
  return router
}
