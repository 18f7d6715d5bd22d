import { Problem } from '../errors.ts'
import type { SilenceJudge } from '../lib/own-clock.ts'
import type { Sweep } from '../lib/sweeper.ts'
import { sizeLimits } from '../limits.ts'
import type { Base } from '../log/core.ts'
import { type Caller, operates } from '../registry/callers/caller.ts'
import { requireLiveKey } from '../registry/callers/live-key.ts'
import { keyOwner } from '../registry/idempotency.ts'
import { type InitializeParams, type LogLevel, type McpSession, nameOfSession, newMcpSessionId } from './mcp-session.ts'
import {
  deleteIdleMcpSession,
  deleteMcpSession,
  findMcpSession,
  insertMcpSession,
  listIdleMcpSessions,
  listSurplus,
  lockSubscribedResources,
  setLogLevel,
  setSessionStream,
  setSubscribedResources,
  useMcpSession,
} from './mcp-session-store.ts'

/** Sessions of one key, and of all keys of an agent; a new one ends the one that was not used for the longest time. */
const sessionsOfKey = 100
const sessionsOfAgent = 200
/** The time after which an unused session ends, in ms. */
const idleMs = 86_400_000
/** The URIs of a session's subscriptions together, as JSON: every request of the session reads them. */
export const uriBytesMax = sizeLimits.description.max

export interface McpSessionContext extends Base, SilenceJudge {
  /** Notifies every gateway that a session has changed or ended. */
  readonly changed: (sessionId: string) => void
}

/** How often a use of a session is recorded. */
const useMs = 60_000
const batchMax = 100
const openSweepMs = idleMs / 4

/**
 * Begins a session and returns its `Mcp-Session-Id`. Of more sessions of a key, or of an agent, than `sessionsOfKey` and
 * `sessionsOfAgent` the ones end that were not used for the longest time: clients that crash never end theirs.
 */
export async function beginMcpSession(
  { db, changed }: McpSessionContext,
  caller: Caller,
  { protocolVersion, initialize }: { readonly protocolVersion: string; readonly initialize: InitializeParams },
): Promise<string> {
  const mcpSessionId = newMcpSessionId()
  await db.transaction(async (tx) => {
    await requireLiveKey(tx, caller)
    const surplus = new Set(await listSurplus(tx, { keyId: caller.keyId }, sessionsOfKey - 1))
    if (caller.kind === 'agent') {
      const others = await listSurplus(tx, { callerId: caller.id }, sessionsOfAgent - 1)
      for (const id of others) surplus.add(id)
    }
    for (const id of surplus) await deleteMcpSession(tx, id)
    await insertMcpSession(tx, {
      id: nameOfSession(mcpSessionId),
      projectId: caller.projectId,
      callerId: caller.id,
      keyId: caller.keyId,
      protocolVersion,
      initialize,
      logLevel: null,
      resources: [],
      streamId: null,
      lastUsedAt: tx.now,
    })
    tx.onCommit(() => surplus.forEach(changed))
  })
  return mcpSessionId
}

/** Returns the caller's session and records its use. Errors: `session-not-found`, also for another caller's. */
export async function requireMcpSession(
  { db, clock }: Base,
  caller: Caller,
  mcpSessionId: string,
): Promise<McpSession> {
  const session = await findMcpSession(db, nameOfSession(mcpSessionId))
  if (!session || !isOwn(caller, session)) throw notFound()
  if (clock.now() - session.lastUsedAt >= useMs) await db.transaction((tx) => useMcpSession(tx, session.id, useMs))
  return session
}

function isOwn(caller: Caller, { callerId, keyId, projectId }: McpSession): boolean {
  const { kind } = caller
  if (keyOwner({ kind, id: callerId, keyId }) !== keyOwner(caller)) return false
  return kind === 'operator' ? operates(caller, projectId) : caller.projectId === projectId
}

/** Ends a session of the caller. Errors: `session-not-found`. */
export async function endMcpSession(context: McpSessionContext, caller: Caller, mcpSessionId: string): Promise<void> {
  const { id, keyId } = await requireMcpSession(context, caller, mcpSessionId)
  // All operators are one caller: the key of one ends no session of another.
  if (caller.kind === 'operator' && keyId !== caller.keyId) throw notFound()
  await context.db.transaction(async (tx) => {
    if (await deleteMcpSession(tx, id)) tx.onCommit(() => context.changed(id))
  })
}

/** Makes a stream the one of its session: an earlier one ends, on whatever gateway it is. Errors: `session-not-found`. */
export async function takeSessionStream(
  { db, changed }: McpSessionContext,
  id: string,
  streamId: string,
): Promise<void> {
  await db.transaction(async (tx) => {
    if (!(await setSessionStream(tx, id, streamId))) throw notFound()
  })
  changed(id)
}

/** Sets the least severe level of log messages of a session. */
export async function setSessionLevel({ db, changed }: McpSessionContext, id: string, level: LogLevel): Promise<void> {
  await db.transaction((tx) => setLogLevel(tx, id, level))
  changed(id)
}

/** Subscribes a session to a resource, or ends that. Errors: `limit-exceeded` beyond `items` and `description`. */
export async function subscribeToResource(
  { db, changed }: McpSessionContext,
  id: string,
  { uri, wanted }: { readonly uri: string; readonly wanted: boolean },
): Promise<void> {
  await db.transaction(async (tx) => {
    const resources = await lockSubscribedResources(tx, id)
    if (!resources) throw notFound()
    if (resources.includes(uri) === wanted) return
    const after = wanted ? [...resources, uri] : resources.filter((known) => known !== uri)
    if (wanted) requireRoomForResource(after)
    await setSubscribedResources(tx, id, after)
    tx.onCommit(() => changed(id))
  })
}

function requireRoomForResource(uris: readonly string[]): void {
  if (uris.length > sizeLimits.items.max) {
    throw new Problem('limit-exceeded', {
      detail: `This session is subscribed to ${sizeLimits.items.max} resources, and may have no more. Unsubscribe from one.`,
      extra: { limit: 'items', max: sizeLimits.items.max },
    })
  }
  if (bytesOfUris(uris) > uriBytesMax) {
    throw new Problem('limit-exceeded', {
      field: 'uri',
      detail: `uri: the URIs that this session is subscribed to would have more than ${uriBytesMax} bytes together. Unsubscribe from one, or send a shorter URI.`,
      extra: { limit: 'description', max: uriBytesMax },
    })
  }
}

/** Returns the bytes of URIs as JSON. */
export function bytesOfUris(uris: readonly unknown[]): number {
  return Buffer.byteLength(JSON.stringify(uris))
}

/** Keeps sessions whose stream is open in use, on the gateway that has the streams: a client may listen for days. */
export function openSessionSweep({ db, clock }: McpSessionContext, openSessions: () => readonly string[]): Sweep {
  let doneAt = clock.now()
  return {
    name: 'open_mcp_sessions',
    // A machine that slept for a day finds the streams open again within the minute of grace.
    everyMs: 30_000,
    async run(signal) {
      if (clock.now() < doneAt + openSweepMs) return false
      doneAt = clock.now()
      for (const id of openSessions()) {
        if (signal.aborted) break
        await db.transaction((tx) => useMcpSession(tx, id, useMs))
      }
      return false
    },
  }
}

/** Ends the sessions that were not used for `mcpSessionIdle`. Safe on several gateways at once. */
export function idleSessionSweep({ db, clock, log, changed, silenceUntil }: McpSessionContext): Sweep {
  return {
    name: 'mcp_sessions',
    everyMs: 60_000,
    async run(signal) {
      const before = silenceUntil(clock.now()) - idleMs
      const ids = await listIdleMcpSessions(db, before, batchMax)
      let ended = 0
      for (const id of ids) {
        if (signal.aborted) break
        if (!(await db.transaction((tx) => deleteIdleMcpSession(tx, id, before)))) continue
        ended++
        changed(id)
      }
      if (ended > 0) log.info({ ended }, 'mcp_session.timed_out')
      return ended === batchMax
    },
  }
}

function notFound(): Problem {
  return new Problem('session-not-found', {
    field: 'Mcp-Session-Id',
    detail: 'Mcp-Session-Id: there is no such session, or it has ended. Begin a new one with initialize.',
  })
}
