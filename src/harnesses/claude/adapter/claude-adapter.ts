import { existsSync } from 'node:fs'
import type {
  Adapter,
  AdapterContext,
  AdapterRow,
  FindResult,
  HarnessSession,
  OutgoingWake,
  Probe,
  WakeEnd,
  WakeTools,
} from '../../../bridge/adapter.ts'
import { localAddress, thisMachine } from '../../../bridge/local/address.ts'
import { type AttachedClient, type LocalClients, WakeDeclined } from '../../../bridge/local/clients.ts'
import { reasonOfState } from '../../../bridge/reason-of-state.ts'
import { within } from '../../../lib/within.ts'
import type { Reason } from '../../../words/sender-view.ts'
import { programPath } from '../../program-path.ts'
import { writeToInbox } from './inbox.ts'
import { type Proof, proofOf } from './proof.ts'
import { type ClaudeSession, readSession, readSessions } from './registry.ts'
import { chooseRoute, instanceIn, type Route, recordedWay } from './route.ts'
import { type ClaudeSettings, claudeSettings, readSettings } from './settings.ts'
import { traceIn } from './transcript.ts'
import { watchSessions } from './watch-sessions.ts'

/** Programs of ours in sessions look for a bridge every 6.25 s at the latest. */
const attachMaxMs = 8_000

export const claudeRow: AdapterRow = {
  id: 'claude',
  title: 'Claude Code',
  proves: ['written', 'delivered', 'turn_started'],
  settings: claudeSettings,
  create: (context) => new ClaudeAdapter(context),
}

/**
 * How long a turn is waited for. In an idle session it begins within two seconds; a machine that has just woken up takes longer.
 */
const turnMaxMs = 60_000

/** The sessions of Claude Code in terminals of this machine. */
export class ClaudeAdapter implements Adapter {
  readonly #context: AdapterContext
  readonly #settings: ClaudeSettings
  readonly #turnMaxMs: number

  /** Errors: settings that it cannot work with. */
  constructor(context: AdapterContext, { turnMs = turnMaxMs } = {}) {
    this.#context = context
    this.#settings = readSettings(context)
    this.#turnMaxMs = turnMs
  }

  async probe(): Promise<Probe> {
    const { env } = this.#context
    const { configDirectories } = this.#settings
    const sessions = this.#sessions()
    const place = { env, platform: process.platform }
    const isThere = configDirectories.some((directory) => existsSync(directory))
    const version = sessions.map((session) => session.version).find((one) => one !== undefined)
    return {
      isThere: isThere || programPath('claude', place) !== undefined,
      ...(version === undefined ? {} : { version }),
      sessions: sessions.map((session) => this.#described(session)),
      remarks: [],
    }
  }

  watch(noteSession: (session: HarnessSession) => void, signal: AbortSignal): Promise<void> {
    return watchSessions({
      directories: this.#settings.configDirectories,
      clients: this.#context.clients,
      look: () => this.#sessions().map((session) => this.#described(session)),
      noteSession,
      signal,
    })
  }

  async wake(target: HarnessSession, wake: OutgoingWake, tools: WakeTools): Promise<WakeEnd> {
    const before = this.#ready(target)
    if ('step' in before) return before
    const way = recordedWay(before.route)
    await tools.handingOver(way)
    // Writing the record took time, and the user may have begun a turn meanwhile.
    const now = this.#ready(target)
    if ('step' in now) return now
    if (recordedWay(now.route) !== way) {
      return { step: 'held', detail: 'the way into the session has changed', reason: 'cannot_start_turn' }
    }
    const refusal = await this.#handOver(now.route, wake)
    if (refusal) return refusal
    tools.report('written', `Claude Code: ${routeWords[now.route.kind]}`)
    return endOf(await this.#proof(now.session, wake.id, tools.signal), this.#turnMaxMs)
  }

  async find(target: HarnessSession, wakeId: string, signal: AbortSignal, way = ''): Promise<FindResult> {
    const session = this.#session(target)
    const traced = session && (await traceIn(session, wakeId))
    if (traced === 'began') return 'turn_started'
    if (traced === 'joined') return 'delivered'
    if (traced === 'queued') return 'waits'
    // A wake that a session has not written down yet may be held in a dialog of its inbox, or lie in a pipe. The client that got it may tell.
    const client = await clientOf(this.#context.clients, instanceIn(way), signal)
    const hasTaken = await client?.hasTaken(wakeId)
    return hasTaken === undefined ? 'unknown' : hasTaken ? 'written' : 'absent'
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #sessions(): ClaudeSession[] {
    return this.#settings.configDirectories.flatMap(readSessions)
  }

  #session({ process: found }: HarnessSession): ClaudeSession | undefined {
    if (found === undefined) return undefined
    const sessions = this.#settings.configDirectories.map((directory) => readSession(directory, found.pid))
    return sessions.find((session) => session !== undefined)
  }

  /** Returns the current session and the way into it, or why the wake waits. Nothing can be taken back, so only an idle session is woken. */
  #ready(target: HarnessSession): { session: ClaudeSession; route: Exclude<Route, { kind: 'none' }> } | HeldEnd {
    const session = this.#session(target)
    if (session === undefined) return held('the session has ended', 'no_session')
    if (session.sessionId !== target.conversationId)
      return held('the session has gone on to another conversation', 'no_session')
    if (session.state !== 'idle') return held(heldWords(session), reasonOfState(session.state))
    const route = this.#route(session)
    return route.kind === 'none' ? held(route.remark, 'cannot_start_turn') : { session, route }
  }

  #route(session: ClaudeSession): Route {
    const { clients } = this.#context
    return chooseRoute({
      session,
      clients: clients.attached('claude'),
      reported: clients
        .reportedConversations('claude')
        .find(({ conversationId }) => conversationId === session.sessionId),
      isInboxAllowed: this.#settings.isInboxAllowed,
    })
  }

  /** Returns how it ended where the wake is not in the session, or may not be. */
  async #handOver(route: Exclude<Route, { kind: 'none' }>, wake: OutgoingWake): Promise<WakeEnd | undefined> {
    try {
      await (route.kind === 'inbox' ? writeToInbox(route.path, wake, this.#address()) : route.client.send(wake))
      return undefined
    } catch (error) {
      const why = `${routeWords[route.kind]}: ${(error as Error).message}`
      const isOutside = error instanceof WakeDeclined || route.kind === 'inbox'
      return isOutside ? held(why, 'cannot_start_turn') : { step: 'unknown', detail: why }
    }
  }

  #address(): string {
    return localAddress(this.#context.env, thisMachine())?.path ?? '/rouse-bridge.sock'
  }

  #proof(session: ClaudeSession, wakeId: string, signal: AbortSignal): Promise<Proof | undefined> {
    const { clients } = this.#context
    return proofOf({ clients, session, wakeId, signal, timeoutMs: this.#turnMaxMs })
  }

  #described(session: ClaudeSession): HarnessSession {
    const { clients } = this.#context
    const { pid, startedAt, sessionId, cwd, state } = session
    const route = this.#route(session)
    const reported = clients.reportedConversations('claude').find(({ conversationId }) => conversationId === sessionId)
    const turn = state === 'idle' ? undefined : reported?.activeTurnId
    return {
      harness: 'claude',
      conversationId: sessionId,
      cwd,
      process: { pid, startedAt },
      state,
      ...(turn === undefined ? {} : { activeTurnId: turn }),
      ...(route.kind === 'none' ? { remark: route.remark } : { route: route.kind }),
    }
  }
}

const routeWords = {
  monitor: 'the monitor of the plugin',
  rewake: 'the waiting hook',
  inbox: 'the inbox socket',
} as const

type HeldEnd = Extract<WakeEnd, { step: 'held' }>

const held = (detail: string, reason: Reason): HeldEnd => ({ step: 'held', detail, reason })

function heldWords({ state, waitingFor }: ClaudeSession): string {
  if (state === 'waitingOnApproval') return `the session waits for its user${waitingFor ? ` (${waitingFor})` : ''}`
  return state === 'active' ? 'a turn runs' : 'the session does not say what it does'
}

function endOf(proof: Proof | undefined, timeoutMs: number): WakeEnd {
  if (proof) return { step: proof.step, detail: proof.detail }
  const within = `within ${Math.round(timeoutMs / 1_000)} s`
  return { step: 'written', detail: `no turn was seen ${within}: rouse install claude has hooks that tell it` }
}

/** A client by its instance, when it has found this bridge. undefined: it does not come. Never rejects. */
async function clientOf(
  clients: LocalClients,
  instance: string | undefined,
  signal: AbortSignal,
): Promise<AttachedClient | undefined> {
  const find = () => clients.attached('claude').find((client) => client.instance === instance)
  if (instance === undefined) return undefined
  using either = within(attachMaxMs, signal)
  return await new Promise((resolve) => {
    const settle = () => {
      end()
      resolve(find())
    }
    const look = () => find() && settle()
    const end = clients.onChange('claude', look)
    either.signal.addEventListener('abort', settle, { once: true })
    if (either.signal.aborted) settle()
    else look()
  })
}
