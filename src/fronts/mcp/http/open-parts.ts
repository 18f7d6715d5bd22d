import type { Base } from '../../../core.ts'
import type { LogNotifier } from '../../../log/log-notifier.ts'
import type { McpParts } from './context.ts'
import { InFlight } from './in-flight.ts'
import { ResourceFeed, type ResourcesOf } from './resource-feed.ts'
import { SessionStreams } from './session-streams.ts'

export interface McpOptions extends Base {
  readonly notifier: LogNotifier
  /** In [0, 1). */
  readonly random: () => number
  readonly resourcesOf: ResourcesOf
  /** Notifies every gateway that a session has changed or ended. */
  readonly changed: (sessionId: string) => void
  readonly publicUrl: string
}

/** How long clients of a gateway that stops stay away: from 0.5 to 2.5 s. */
const retryMs = { least: 500, spread: 2_000 }

/** Builds what `/mcp` keeps between two requests. */
export function openMcpParts(options: McpOptions): McpParts {
  const { db, clock, log, random, changed, publicUrl } = options
  return {
    sessions: { db, clock, log, changed },
    streams: new SessionStreams(db, log),
    feed: new ResourceFeed(options),
    inFlight: new InFlight(),
    retryMs: () => retryMs.least + Math.floor(random() * retryMs.spread),
    ownNames: new Set([new URL(publicUrl).hostname.replace(/^\[|\]$/g, '')]),
  }
}
