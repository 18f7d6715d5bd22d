import type { JSONRPCNotification, RequestId } from '@modelcontextprotocol/server'
import type { SilenceJudge } from '../../../lib/own-clock.ts'
import type { Sweep } from '../../../lib/sweeper.ts'
import type { Base } from '../../../log/core.ts'
import { type McpSessionContext, openSessionSweep } from '../../../mcp-sessions/mcp-sessions.ts'
import type { StreamConnections } from '../../../wake-stream/connections.ts'
import { OpenStreams } from './open-streams.ts'

/** The requests of sessions that this gateway is answering. A cancellation that comes over another gateway does not reach them. */
export class InFlight {
  readonly #byRequest = new Map<string, Set<AbortController>>()

  /** Counts a request until the result is disposed. Its `signal` aborts when the client cancels it. */
  add(sessionId: string, requestId: RequestId): Disposable & { readonly signal: AbortSignal } {
    const key = keyOf(sessionId, requestId)
    const controller = new AbortController()
    const open = this.#byRequest.get(key) ?? new Set()
    this.#byRequest.set(key, open.add(controller))
    return {
      signal: controller.signal,
      [Symbol.dispose]: () => {
        open.delete(controller)
        if (open.size === 0 && this.#byRequest.get(key) === open) this.#byRequest.delete(key)
      },
    }
  }

  /** Cancels the request that a notification of the session names. Other notifications concern no request. */
  hear(sessionId: string, { method, params }: JSONRPCNotification): void {
    const requestId = params?.requestId
    if (method !== 'notifications/cancelled' || (typeof requestId !== 'string' && typeof requestId !== 'number')) return
    for (const controller of this.#byRequest.get(keyOf(sessionId, requestId)) ?? []) controller.abort()
  }
}

const keyOf = (sessionId: string, requestId: RequestId): string => `${sessionId} ${JSON.stringify(requestId)}`

interface McpOptions extends Base, SilenceJudge {
  /** In [0, 1). */
  readonly random: () => number
  /** Notifies every gateway that a session has changed or ended. */
  readonly changed: (sessionId: string) => void
  readonly publicUrl: string
  /** Of the channel `mcp-notifications`. */
  readonly connections: StreamConnections
}

/** The parts that `/mcp` keeps between two requests. */
export interface McpParts {
  readonly sessions: McpSessionContext
  readonly streams: OpenStreams
  readonly connections: StreamConnections
  /** Keeps sessions with an open stream in use. */
  readonly sweep: Sweep
  readonly inFlight: InFlight
  /** Looks what has changed: ids of sessions and of wake subscriptions. */
  readonly check: (ids: readonly string[]) => void
  /** The same for all of them: notifications may have been lost. */
  readonly checkAll: () => void
  /** After how many ms a client that was disconnected comes back: spread, so that not all come at once. */
  readonly retryMs: () => number
  /** The names that a page of this gateway may have in `Origin`, beside those of loopback. */
  readonly ownNames: ReadonlySet<string>
}

/** How long clients of a gateway that stops stay away: from 0.5 to 2.5 s. */
const retryMs = { least: 500, spread: 2_000 }

export function openMcpParts(options: McpOptions): McpParts {
  const { db, clock, log, random, changed, silenceUntil, publicUrl, connections } = options
  const sessions = { db, clock, log, changed, silenceUntil }
  const streams = new OpenStreams(db, log)
  return {
    sessions,
    streams,
    connections,
    sweep: openSessionSweep(sessions, () => streams.sessionIds),
    inFlight: new InFlight(),
    check(ids) {
      connections.check(ids)
      streams.check(ids)
    },
    checkAll() {
      connections.checkAll()
      streams.checkAll()
    },
    retryMs: () => retryMs.least + Math.floor(random() * retryMs.spread),
    ownNames: new Set([new URL(publicUrl).hostname.replace(/^\[|\]$/g, '')]),
  }
}
