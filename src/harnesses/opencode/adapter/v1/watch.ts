import { setTimeout as delay } from 'node:timers/promises'
import type { AdapterContext, HarnessSession, NoteAsked, NoteLimit } from '../../../../bridge/adapter.ts'
import { isJsonObject } from '../../../../lib/json.ts'
import { opencodeRetryLimit } from '../../limit.ts'
import { type EventFeed, type HarnessEvent, openFeed } from '../http/event-feed.ts'
import { ServerAsked } from './asked.ts'
import { conversationsOf } from './conversations.ts'
import { findServers, type V1Server } from './servers.ts'

/** How often it is looked for terminals that were opened. */
const lookMs = 5_000
/** Events come in bursts. */
const settleMs = 100

/** The notes of a watch: the state of a conversation, a limit that was shown to one, and what one asks its user; undefined: nobody takes that. */
interface ServerNotes {
  readonly session: (session: HarnessSession) => void
  readonly limit: NoteLimit
  readonly asked: () => NoteAsked | undefined
}

interface ServerWatch extends Disposable {
  readonly server: V1Server
}

/**
 * Reports the conversations of every process with a port as they change, and notes which process runs which. Resolves when the signal
 * aborts.
 */
export async function watchServers(
  context: AdapterContext,
  owners: Map<string, number>,
  notes: ServerNotes,
  signal: AbortSignal,
): Promise<void> {
  const watched = new Map<string, ServerWatch>()
  const retried = ({ type, properties: { sessionID, status } }: HarnessEvent): void => {
    if (type !== 'session.status' || typeof sessionID !== 'string' || !isJsonObject(status)) return
    const limit = opencodeRetryLimit(status, context.now())
    if (limit) notes.limit(limit, { conversationId: sessionID })
  }
  try {
    while (!signal.aborted) {
      const { servers } = await findServers(context, signal).catch(() => ({ servers: [] }))
      const open = new Map(servers.map((server) => [`${server.pid} ${server.api.server.url}`, server]))
      for (const [key, one] of watched) {
        if (open.has(key)) continue
        one[Symbol.dispose]()
        watched.delete(key)
      }
      for (const [key, server] of open) {
        if (!watched.has(key)) watched.set(key, watchServer(server, owners, notes, retried))
      }
      await delay(lookMs, undefined, { signal }).catch(() => {})
    }
  } finally {
    for (const one of watched.values()) one[Symbol.dispose]()
  }
}

function watchServer(
  server: V1Server,
  owners: Map<string, number>,
  notes: ServerNotes,
  take: (event: HarnessEvent) => void,
): ServerWatch {
  const ended = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const noteAsked = notes.asked()
  const asked = noteAsked && new ServerAsked(server, noteAsked)
  const tellSoon = () => {
    timer ??= setTimeout(() => {
      timer = undefined
      tell().catch(() => {})
    }, settleMs)
  }
  const tell = async () => {
    const sessions = await conversationsOf(server, owners, ended.signal)
    for (const session of sessions) notes.session(session)
  }
  const feed: EventFeed = openFeed(server.api.server, '/event', (event) => {
    const sessionId = runBy(event)
    if (sessionId !== undefined) note(owners, sessionId, server.pid)
    take(event)
    if (telling.test(event.type)) tellSoon()
    if (asking.test(event.type)) asked?.look(ended.signal)
  })
  return {
    server,
    [Symbol.dispose]() {
      ended.abort()
      clearTimeout(timer)
      feed[Symbol.dispose]()
      asked?.[Symbol.dispose]()
    },
  }
}

/** What was missed while the feed was away is looked for when it is there. */
const asking = /^(server\.connected|permission\.|question\.)/
const telling = /^(server\.connected|session\.(created|deleted|status|idle)|permission\.|question\.)/

/** The conversation that an event is about: its process runs it, because a process reports only its own turns. Pure. */
function runBy({ type, properties }: HarnessEvent): string | undefined {
  if (type !== 'session.status' && type !== 'session.idle') return undefined
  return typeof properties.sessionID === 'string' ? properties.sessionID : undefined
}

const ownersMax = 1_000

function note(owners: Map<string, number>, sessionId: string, pid: number): void {
  owners.delete(sessionId)
  owners.set(sessionId, pid)
  for (const oldest of owners.keys()) {
    if (owners.size <= ownersMax) break
    owners.delete(oldest)
  }
}
