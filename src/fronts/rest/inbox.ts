import type { Slot } from '../../admission/slots.ts'
import { Problem } from '../../errors.ts'
import { revoked } from '../../identity/open-calls.ts'
import { takePiggyback } from '../../mailbox/delivery/piggyback.ts'
import { returnUnshown } from '../../mailbox/delivery/return-to-waiting.ts'
import { readInbox } from '../../mailbox/reading/inbox.ts'
import { readTaggedInbox } from '../../mailbox/reading/tagged-inbox.ts'
import { requireAddressed } from '../../registry/agents/addresses.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import { mayReadInbox } from '../../registry/permissions/grants.ts'
import { requireSession } from '../../sessions/sessions.ts'
import type { Database } from '../../storage/database.ts'
import type { PendingSignal } from '../../words/mail.ts'
import type { FrontContext } from '../front-context.ts'
import { inboxQuery, returnsInput } from './messages/input.ts'
import { type InboxView, inboxMessageView } from './messages/view.ts'
import { route, type UntilGone } from './route.ts'

const limitDefault = 50

/** `/v1/inbox`: the mail of the caller, or of an agent that lets it read. Unread mail is a queue, oldest first; all mail a history. */
export const inboxRoutes = [
  route('GET /v1/inbox', {
    name: 'inbox.read',
    what: 'read an inbox',
    access: { scope: 'read', operator: 'any', agent: 'granted', peer: 'granted', audited: 'operator' },
    query: inboxQuery,
    handle: async ({ query, reply, ...call }, context): Promise<InboxView> => {
      const { caller } = call
      if (query.waitSeconds !== undefined) {
        // The answer to HEAD has no body: the mail would count as delivered, and nobody would see it.
        if (call.http?.req.method === 'HEAD') return { messages: [], nextPageToken: '' }
        const pendingSignals = await waitForMail(context, call, query.waitSeconds * 1000)
        return { messages: [], nextPageToken: '', pendingSignals }
      }
      const { db } = context
      const { thread, signalType, type, taggedConcept, since, limit = limitDefault } = query
      reply.target = query.agent ?? ''
      const unread = query.unread === true
      const inboxQuery = {
        agentId: await ownerId(db, caller, query.agent),
        unread,
        threadId: thread,
        signalType,
        type,
        // Operators share one mailbox. They see its mail of the projects that they operate.
        projects: caller.projects,
        since,
        order: query.order ?? (unread ? 'oldest' : 'newest'),
        after: query.pageToken,
        limit,
      }
      const { mails, more, last } = await (taggedConcept === undefined
        ? readInbox(db, inboxQuery)
        : readTaggedInbox(db, inboxQuery, taggedConcept))
      return { messages: mails.map(inboxMessageView), nextPageToken: more && last ? last : '' }
    },
  }),
  route('POST /v1/inbox/returns', {
    name: 'inbox.return',
    what: 'return mail that was not shown',
    access: { scope: 'work', operator: 'never', agent: 'own', peer: 'never', audited: 'no' },
    body: returnsInput,
    handle: async ({ caller, body: { sessionId, messageIds } }, { db }) => {
      await requireSession(db, caller, sessionId)
      return { returned: await returnUnshown(db, caller.id, sessionId, messageIds) }
    },
  }),
] as const

/** Another's inbox takes its grant. The operator needs none in its project. Source: S1-26. */
async function ownerId(db: Database, caller: Caller, name: string | undefined): Promise<string> {
  if (name === undefined) return caller.id
  const agent = await requireAddressed(db, caller, name, 'agent')
  if (await mayReadInbox(db, caller, agent)) return agent.id
  throw new Problem('forbidden', {
    field: 'agent',
    detail: `agent: ${agent.handle} has not granted you CAN_READ_INBOX_OF. Leave agent out to read your own inbox.`,
  })
}

/**
 * Waits until mail comes that wakes the caller, and returns all waiting mail, like the answer to any other call. Empty at the time-out,
 * when the gateway stops, and when the client has disconnected. It counts as a blocking call while it waits. Errors: `forbidden`,
 * `session-not-found`, `limit-exceeded`; `unauthenticated` when the key is revoked meanwhile. Source: S2-14.
 */
async function waitForMail(
  { mail, mailWaits, openCalls, stopping }: FrontContext,
  { caller, untilGone, slot }: { readonly caller: Caller; readonly untilGone: UntilGone; readonly slot: Slot },
  timeoutMs: number,
): Promise<PendingSignal[]> {
  requireTaker(caller)
  if (!(await mail.findSession(mail.db, caller.id))) throw withoutSession(caller)
  using openCall = openCalls.open(caller, 'blockingCalls')
  const signal = untilGone(stopping, openCall.signal)
  slot.release()
  await mailWaits.untilMail(caller, { timeoutMs, signal })
  const signals = await mailWaits.inTurn(caller.id, async () => (signal.aborted ? [] : takePiggyback(mail, caller.id)))
  if (openCall.signal.aborted && signals.length === 0) throw revoked()
  return signals
}

/** Mail is delivered to a harness: an agent's key with `read` and `work`. */
function requireTaker({ kind, scopes }: Caller): void {
  if (kind === 'agent' && scopes.includes('work')) return
  throw new Problem('forbidden', {
    field: 'waitSeconds',
    detail:
      kind === 'agent'
        ? 'waitSeconds: what it returns counts as delivered, which takes a key with the scopes read and work. Leave waitSeconds out to read the inbox.'
        : 'waitSeconds: only an agent can wait for its mail. Leave waitSeconds out to read the inbox.',
  })
}

function withoutSession({ identity }: Caller): Problem {
  return new Problem('session-not-found', {
    detail: `${identity} has no live session.`,
    remedy: 'start-session',
  })
}
