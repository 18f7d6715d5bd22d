import { existsSync, realpathSync } from 'node:fs'
import { join, sep } from 'node:path'
import type {
  Adapter,
  AdapterContext,
  AdapterRow,
  FindResult,
  HarnessSession,
  NoteAsked,
  NoteLimit,
  OutgoingWake,
  Probe,
  WakeEnd,
  WakeTools,
} from '../../../bridge/adapter.ts'
import type { Io } from '../../../client/io.ts'
import { withTimeout } from '../../../client/with-timeout.ts'
import { opencodeRetryLimit } from '../limit.ts'
import { findByPlugin, pluginOf, pluginSessions, wakeByPlugin } from './plugin/plugin-route.ts'
import { settings } from './settings.ts'
import { conversationsOf } from './v1/conversations.ts'
import { findByPort } from './v1/find.ts'
import { findServers, type V1Server } from './v1/servers.ts'
import { wakeByPort } from './v1/wake.ts'
import { watchServers } from './v1/watch.ts'
import { findService, type V2Service } from './v2/service.ts'
import { findByService, serviceRoute, serviceSessions, wakeByService } from './v2/service-route.ts'

export const opencodeRow: AdapterRow = {
  id: 'opencode',
  title: 'OpenCode',
  proves: ['accepted', 'written', 'held', 'delivered', 'turn_started'],
  settings,
  create: (context) => new OpenCodeAdapter(context),
}

/** How long a look may take. */
const probeMaxMs = 8_000

/**
 * OpenCode, by three ways: our plugin inside the process; the port of the process, where it has one; the service of OpenCode 2. All
 * prove the turn alike. The plugin goes first, because it alone knows which conversation its terminal shows. A way is bound to the process:
 * another process with the same conversations would run the turn where its user does not see it.
 */
class OpenCodeAdapter implements Adapter {
  readonly #context: AdapterContext
  /** Which process ran a conversation last, as its events have shown. */
  readonly #owners = new Map<string, number>()
  #noteLimit: NoteLimit = () => {}
  #noteAsked: NoteAsked | undefined

  constructor(context: AdapterContext) {
    this.#context = context
  }

  probe(outer: AbortSignal): Promise<Probe> {
    const expired = () => new Error(`no answer within ${probeMaxMs / 1_000} s`)
    return withTimeout({ signal: outer, timeoutMs: probeMaxMs, expired }, (signal) => this.#probe(signal))
  }

  async #probe(signal: AbortSignal): Promise<Probe> {
    const plugins = pluginSessions(this.#context.clients)
    const [byPort, byService] = await Promise.all([this.#byPort(plugins, signal), this.#byService(signal)])
    signal.throwIfAborted()
    const sessions = [...plugins, ...byPort.sessions, ...byService.sessions].map(withRealPath)
    const version = byPort.version ?? byService.version
    return {
      isThere: sessions.length > 0 || version !== undefined || isUsedHere(this.#context.env),
      ...(version === undefined ? {} : { version }),
      sessions: sessions.filter(({ cwd }) => cwd !== undefined && isAllowed(cwd, this.#context.directories)),
      remarks: [...byPort.remarks, ...byService.remarks],
    }
  }

  async watch(noteSession: (session: HarnessSession) => void, signal: AbortSignal): Promise<void> {
    const notePlugins = () => {
      for (const session of pluginSessions(this.#context.clients)) noteSession(withRealPath(session))
      for (const { conversationId, retry } of this.#context.clients.attached('opencode')) {
        const limit = retry && opencodeRetryLimit({ type: 'retry', ...retry }, this.#context.now())
        if (limit) this.#noteLimit(limit, { conversationId })
      }
    }
    const stop = this.#context.clients.onChange('opencode', notePlugins)
    try {
      const note = (session: HarnessSession) => noteSession(withRealPath(session))
      const limit: NoteLimit = (...shown) => this.#noteLimit(...shown)
      const notes = { session: note, limit, asked: () => this.#noteAsked }
      await watchServers(this.#context, this.#owners, notes, signal)
    } finally {
      stop()
    }
  }

  onLimit(noteLimit: NoteLimit): void {
    this.#noteLimit = noteLimit
  }

  onAsked(noteAsked: NoteAsked): void {
    this.#noteAsked = noteAsked
  }

  async wake(session: HarnessSession, wake: OutgoingWake, tools: WakeTools): Promise<WakeEnd> {
    const { clients } = this.#context
    if (pluginOf(clients, session)) return wakeByPlugin(clients, session, wake, tools)
    if (session.route === serviceRoute) {
      const service = await this.#service(tools.signal)
      return service ? wakeByService(service, session.conversationId, wake, tools) : gone
    }
    const server = await this.#serverOf(session, tools.signal)
    return server ? wakeByPort(server.api, session.conversationId, wake, tools) : gone
  }

  async find(session: HarnessSession, wakeId: string, signal: AbortSignal): Promise<FindResult> {
    const { conversationId } = session
    if (session.route === serviceRoute) {
      const service = await this.#service(signal)
      return service ? findByService(service, conversationId, wakeId, signal) : 'unknown'
    }
    const { servers } = await findServers(this.#context, signal)
    // The history is in the files of the user, and every process reads it.
    for (const server of servers.filter(({ directory }) => isAllowed(directory, this.#context.directories))) {
      const found = await findByPort(server.api, conversationId, wakeId, signal)
      if (found !== 'unknown') return found
    }
    return findByPlugin(this.#context.clients, session, wakeId, signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // It keeps nothing open between two calls.
  }

  /** The conversations of the processes that have a port and no plugin. */
  async #byPort(plugins: readonly HarnessSession[], signal: AbortSignal): Promise<Conversations> {
    const { servers, remarks } = await findServers(this.#context, signal)
    const others = servers.filter(({ pid }) => !plugins.some(({ process }) => process?.pid === pid))
    const answers = await Promise.all(others.map((server) => this.#conversationsOf(server, signal)))
    const version = servers[0]?.version
    return {
      ...(version === undefined ? {} : { version }),
      sessions: answers.flatMap((one) => (typeof one === 'string' ? [] : one)),
      remarks: [...remarks, ...answers.filter((one) => typeof one === 'string')],
    }
  }

  async #conversationsOf(server: V1Server, signal: AbortSignal): Promise<readonly HarnessSession[] | string> {
    if (!isAllowed(server.directory, this.#context.directories)) return []
    try {
      return await conversationsOf(server, this.#owners, signal)
    } catch (error) {
      return `OpenCode (process ${server.pid}) cannot be asked for its conversations: ${(error as Error).message}.`
    }
  }

  async #byService(signal: AbortSignal): Promise<Conversations> {
    const service = await findService(this.#context.env, process.getuid?.(), signal).catch(() => undefined)
    if (service === undefined) return { sessions: [], remarks: [] }
    if (typeof service === 'string') return { sessions: [], remarks: [service] }
    const answers = this.#context.directories.map((directory) =>
      serviceSessions(service, directory, signal).catch(() => `OpenCode 2 cannot be asked about ${directory}.`),
    )
    const all = await Promise.all(answers)
    return {
      version: service.version,
      sessions: all.flatMap((one) => (typeof one === 'string' ? [] : one)),
      remarks: all.filter((one) => typeof one === 'string'),
    }
  }

  async #service(signal: AbortSignal): Promise<V2Service | undefined> {
    const service = await findService(this.#context.env, process.getuid?.(), signal)
    return typeof service === 'string' ? undefined : service
  }

  /** The process that a conversation is bound to; without one, the only one that works there. */
  async #serverOf({ process, cwd }: HarnessSession, signal: AbortSignal): Promise<V1Server | undefined> {
    const { servers } = await findServers(this.#context, signal)
    if (process) return servers.find(({ pid }) => pid === process.pid)
    const there = servers.filter(({ directory }) => realPath(directory) === cwd)
    return there.length === 1 ? there[0] : undefined
  }
}

interface Conversations {
  readonly version?: string
  readonly sessions: readonly HarnessSession[]
  readonly remarks: readonly string[]
}

const gone: WakeEnd = {
  step: 'held',
  detail: 'Its OpenCode does not run any more, or has no port.',
  reason: 'no_session',
}

function withRealPath(session: HarnessSession): HarnessSession {
  return session.cwd === undefined ? session : { ...session, cwd: realPath(session.cwd) }
}

/** True when OpenCode has been used by this user: its first start makes one of its directories. */
function isUsedHere({ HOME, XDG_CONFIG_HOME, XDG_DATA_HOME }: Io['env']): boolean {
  const homes = [
    XDG_CONFIG_HOME || (HOME && join(HOME, '.config')),
    XDG_DATA_HOME || (HOME && join(HOME, '.local/share')),
  ]
  return homes.some((home) => home && existsSync(join(home, 'opencode')))
}

/** True when a directory is an allowed one, or below one. `allowed`: with symbolic links resolved. */
function isAllowed(directory: string, allowed: readonly string[]): boolean {
  const real = realPath(directory)
  return allowed.some((one) => real === one || real.startsWith(`${one}${sep}`))
}

/** A path with its symbolic links resolved; a path that does not exist is returned unchanged. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
