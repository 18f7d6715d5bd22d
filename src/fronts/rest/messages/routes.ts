import { readMail, readSentPage, readThreadPage } from '../../../mailbox/reading/read-mail.ts'
import { reportStatus } from '../../../mailbox/reading/report-status.ts'
import { sendMail } from '../../../mailbox/sending/send-mail.ts'
import { idempotencyOf } from '../../../registry/idempotency.ts'
import { idempotencyKey } from '../../idempotency-key.ts'
import { nextToken } from '../page.ts'
import { route } from '../route.ts'
import { messageQuery, newMessage, statusInput } from './input.ts'
import { messageView, sentView } from './view.ts'

const limitDefault = 50

/** `/v1/messages`: send, read, list what the caller sent, and report how far the caller has come with what it received. */
export const messageRoutes = [
  route('GET /v1/messages', {
    name: 'message.list',
    what: 'list sent messages',
    access: { scope: 'read', operator: 'any', agent: 'own', peer: 'never', audited: 'no' },
    query: messageQuery,
    handle: async ({ caller, query }, { mail }) => {
      const { limit = limitDefault, pageToken = '' } = query
      const { mails, more } = await readSentPage(mail.db, caller, pageToken, limit)
      return { messages: mails.map(messageView), nextPageToken: nextToken(mails, more, ({ message }) => message.id) }
    },
  }),
  route('POST /v1/messages', {
    name: 'message.send',
    what: 'send a message',
    access: { scope: 'send', operator: 'any', agent: 'contacts', peer: 'granted', audited: 'soon' },
    body: newMessage,
    status: 201,
    handle: async ({ caller, body, given, header, reply }, { mail, metrics }) => {
      const startedAt = performance.now()
      const key = idempotencyKey(header('idempotency-key'))
      const idempotency = key === undefined ? undefined : idempotencyOf(caller, key, given)
      const sent = await sendMail(mail, caller, body, { idempotency })
      metrics.accepted('mail', performance.now() - startedAt)
      reply.headers.Location = `/v1/messages/${sent.message.id}`
      return sentView(sent)
    },
  }),
  route('GET /v1/messages/:id', {
    name: 'message.read',
    what: 'read a message',
    access: { scope: 'read', operator: 'any', agent: 'party', peer: 'party', audited: 'operator' },
    handle: async ({ caller, params }, { mail }) => messageView(await readMail(mail.db, caller, params.id)),
  }),
  route('POST /v1/messages/:id/status', {
    name: 'message.mark',
    what: 'mark a message',
    access: { scope: 'work', operator: 'own', agent: 'party', peer: 'party', audited: 'soon' },
    body: statusInput,
    handle: async ({ caller, params, body }, { mail }) =>
      messageView(await reportStatus(mail, caller, params.id, body.status)),
  }),
] as const

/** `/v1/threads/{id}`: a conversation, oldest message first. */
export const threadRoutes = [
  route('GET /v1/threads/:id', {
    name: 'thread.read',
    what: 'read a thread',
    access: { scope: 'read', operator: 'any', agent: 'party', peer: 'party', audited: 'operator' },
    query: messageQuery,
    handle: async ({ caller, params, query }, { db }) => {
      const { limit = limitDefault, pageToken = '' } = query
      const { mails, more } = await readThreadPage(db, caller, params.id, pageToken, limit)
      return {
        threadId: params.id,
        messages: mails.map(messageView),
        nextPageToken: nextToken(mails, more, ({ message }) => message.id),
      }
    },
  }),
] as const
