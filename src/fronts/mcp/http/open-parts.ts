import type { Base } from '../../../core.ts'
import type { LogNotifier } from '../../../log/log-notifier.ts'
import { openSessionSweep } from '../../../mcp-sessions/mcp-sessions.ts'
import type { StreamConnections } from '../../../wake-stream/connections.ts'
import type { McpParts } from './context.ts'
import { InFlight } from './in-flight.ts'
import { ResourceFeed, type ResourcesOf } from './resource-feed.ts'
import { SessionStreams } from './session-streams.ts'
import { SessionWakes } from './session-wakes.ts'

interface McpOptions extends Base {
  readonly notifier: LogNotifier
  /** In [0, 1). */
  readonly random: () => number
  readonly resourcesOf: ResourcesOf
  /** Notifies every gateway that a session has changed or ended. */
  readonly changed: (sessionId: string) => void
  readonly publicUrl: string
  /** Of the channel `mcp-notifications`. */
  readonly connections: StreamConnections
}

/** How long clients of a gateway that stops stay away: from 0.5 to 2.5 s. */
const retryMs = { least: 500, spread: 2_000 }

/** Builds what `/mcp` keeps between two requests. */
export function openMcpParts(options: McpOptions): McpParts {
  const { db, clock, log, random, changed, publicUrl, connections } = options
  const streams = new SessionStreams(db, log)
  const wakes = new SessionWakes({ db, log, connections })
  return {
    sessions: { db, clock, log, changed },
    streams,
    wakes,
    feed: new ResourceFeed(options),
    sweep: openSessionSweep({ db, clock, log, changed }, () => streams.sessionIds),
    inFlight: new InFlight(),
    check(ids) {
      connections.check(ids)
      streams.check(ids)
      wakes.check(ids)
    },
    checkAll() {
      connections.checkAll()
      streams.checkAll()
      wakes.checkAll()
    },
    retryMs: () => retryMs.least + Math.floor(random() * retryMs.spread),
    ownNames: new Set([new URL(publicUrl).hostname.replace(/^\[|\]$/g, '')]),
  }
}
