import { createHash } from 'node:crypto'
import { type Request, Router } from 'express'
import { readMail, readSentPage } from '../../mailbox/read-mail.ts'
import { reportStatus } from '../../mailbox/report-status.ts'
import { type MailContext, sendMail } from '../../mailbox/send.ts'
import { callerOf } from '../auth.ts'
import { idempotencyKey } from '../idempotency-key.ts'
import { onlyMethods } from '../method-not-allowed.ts'
import { parse } from '../validate.ts'
import { mailPageQuery, messageInput, statusInput } from './mail-schemas.ts'
import { mailView, sentView } from './mail-views.ts'

const limitDefault = 50

/** `/v1/messages`: send, read, list what one sent, and say how far one has come with what one got. */
export function messageRoutes(context: MailContext): Router {
  const { db } = context
  const router = Router()
  router.post('/', async (req, res) => {
    const input = parse(messageInput, req.body)
    const sent = await sendMail(context, callerOf(res), input, { idempotency: idempotencyOf(req) })
    res.status(201).location(`/v1/messages/${sent.message.id}`).json(sentView(sent))
  })
  router.get('/', async (req, res) => {
    const { limit = limitDefault, pageToken = '' } = parse(mailPageQuery, req.query)
    const { mails, more } = await readSentPage(db, callerOf(res), pageToken, limit)
    res.json({ messages: mails.map(mailView), nextPageToken: more ? mails.at(-1)!.message.id : '' })
  })
  router.get('/:id', async (req, res) => {
    res.json(mailView(await readMail(db, callerOf(res), req.params.id)))
  })
  router.post('/:id/status', async (req, res) => {
    const { status } = parse(statusInput, req.body)
    res.json(mailView(await reportStatus(context, callerOf(res), req.params.id, status)))
  })
  router.all('/', onlyMethods('GET', 'POST'))
  router.all('/:id', onlyMethods('GET'))
  router.all('/:id/status', onlyMethods('POST'))
  return router
}

function idempotencyOf(req: Request): { key: string; fingerprint: string } | undefined {
  const key = idempotencyKey(req.get('idempotency-key'))
  if (key === undefined) return undefined
  return { key, fingerprint: createHash('sha256').update(JSON.stringify(req.body)).digest('hex') }
}
