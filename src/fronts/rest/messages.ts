import { Router } from 'express'
import { readMail } from '../../mailbox/mail.ts'
import { identityOf } from '../../registry/agents.ts'
import type { Database } from '../../storage/database.ts'
import { callerOf } from '../auth.ts'
import { onlyMethods } from '../method-not-allowed.ts'

/** `/v1/messages/{id}`: from the messageId of a wake to the task that it belongs to. */
export function messageRoutes(db: Database): Router {
  const router = Router()
  router.get('/:id', async (req, res) => {
    const { message, recipients } = await readMail(db, callerOf(res), req.params.id)
    res.json({
      messageId: message.id,
      threadId: message.threadId,
      from: await identityOf(db, message.senderId),
      subject: message.subject,
      priority: message.priority,
      wakePolicy: message.wakePolicy,
      taggedConcepts: JSON.parse(message.taggedConcepts),
      inReplyTo: message.inReplyTo,
      taskId: message.taskId,
      recipients: await Promise.all(
        recipients.map(async ({ agentId, status, updatedAt }) => ({
          agent: await identityOf(db, agentId),
          status,
          updatedAt: new Date(updatedAt).toISOString(),
        })),
      ),
      createdAt: new Date(message.createdAt).toISOString(),
    })
  })
  router.all('/:id', onlyMethods('GET'))
  return router
}
