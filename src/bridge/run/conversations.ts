import { realpathSync } from 'node:fs'
import type { AdapterId, HarnessSession, LimitedAt } from '../adapter.ts'
import type { BridgedAgent } from '../config/bridge-config.ts'
import { type Choice, chooseSession, isWithin } from '../target/choose-session.ts'
import { isOf, isSameConversation, type KnownSession } from '../target/same-conversation.ts'
import type { AdapterHost, ChangeListener } from './adapter-host.ts'
import type { OwnSession } from './own-session.ts'

const sessionAgeMsMax = 5 * 60_000

/** The conversations on this machine that an agent may speak in. */
export class Conversations {
  readonly #agent: BridgedAgent
  readonly #host: AdapterHost
  readonly #own: OwnSession
  readonly #others: (signal: AbortSignal) => Promise<readonly KnownSession[]>

  constructor(
    agent: BridgedAgent,
    host: AdapterHost,
    own: OwnSession,
    others: (signal: AbortSignal) => Promise<readonly KnownSession[]>,
  ) {
    this.#agent = agent
    this.#host = host
    this.#own = own
    this.#others = others
  }

  /** The one that a wake is for, looked for now. Errors: of the gateway. */
  async choose(signal: AbortSignal): Promise<Choice> {
    const { harnesses, directories } = this.#agent
    const [known, ...probes] = await Promise.all([
      this.#own.read(signal),
      ...harnesses.map((id) => this.#host.look(id)),
    ])
    const sessions = probes.flatMap((probe) => probe.sessions.map(resolved))
    const others = known === undefined ? await this.#others(signal) : []
    const choice = chooseSession({ harnesses, directories, sessions, known, others })
    if (choice.kind !== 'none') return choice
    const remarks = probes.flatMap((probe) => probe.remarks).slice(0, 3)
    return { ...choice, reason: [choice.reason, ...remarks].join('; ') }
  }

  /** The current state of a conversation; undefined: it no longer exists. */
  async lookFor(harness: AdapterId, conversationId: string): Promise<HarnessSession | undefined> {
    const { sessions } = await this.#host.look(harness)
    return sessions.find((session) => session.conversationId === conversationId)
  }

  /** The conversations that a watch has reported, in which the agent may be woken, and whose process runs. */
  reported(): readonly HarnessSession[] {
    const reported = this.#agent.harnesses.flatMap((id) => this.#host.reported(id))
    return reported.filter((session) => this.#isAllowed(session) && isAlive(session)).map(resolved)
  }

  /** Those of them that are the agent's own: its session's, or without a session those that are no other agent's. */
  async ownReported(known: KnownSession | undefined, signal: AbortSignal): Promise<readonly HarnessSession[]> {
    const live = this.reported().filter(({ process, state }) => process !== undefined || state !== 'unknown')
    if (known || live.length === 0) return live.filter((session) => known && isOf(known, session))
    const others = await this.#others(signal)
    return live.filter((session) => !others.some((other) => isOf(other, session)))
  }

  /** True when a limit was shown to the agent: in a wake of its own, or in its conversation. */
  async isLimited(harness: AdapterId, { agent, conversationId }: LimitedAt, signal: AbortSignal): Promise<boolean> {
    if (agent !== undefined) return agent === this.#agent.profile.identity
    return conversationId !== undefined && this.isOwn(harness, conversationId, signal)
  }

  /** True when a conversation is the agent's, as far as its last session reports. */
  async isOwn(harness: AdapterId, conversationId: string, signal: AbortSignal): Promise<boolean> {
    if (!this.#agent.harnesses.includes(harness)) return false
    const known = await this.#own.recent(sessionAgeMsMax, signal)
    const own = await this.ownReported(known, signal)
    return known?.conversationId === conversationId || own.some((session) => session.conversationId === conversationId)
  }

  /** Calls back when a watch reports a conversation that the agent may be woken in. Returns what ends that. */
  onReported(changed: () => void): () => void {
    return this.#onChange((session) => {
      if (session && this.#isAllowed(session)) changed()
    })
  }

  /** Resolves when a conversation changes: that one, or any of the agent's where none is named. Or when the signal aborts. */
  changed(waited: HarnessSession | undefined, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const end = this.#onChange((session) => {
        if (session === undefined || this.#concerns(session, waited)) done()
      })
      const done = (): void => {
        end()
        signal.removeEventListener('abort', done)
        resolve()
      }
      signal.addEventListener('abort', done, { once: true })
    })
  }

  #concerns(session: HarnessSession, waited: HarnessSession | undefined): boolean {
    if (waited === undefined) return this.#isAllowed(session)
    // A harness that works reports much that changes nothing for who waits.
    const { state, route, activeTurnId } = waited
    const isSame = session.state === state && session.route === route && session.activeTurnId === activeTurnId
    return isSameConversation(session, waited) && !isSame
  }

  #onChange(changed: ChangeListener): () => void {
    const ends = this.#agent.harnesses.map((id) => this.#host.onChange(id, changed))
    return () => {
      for (const end of ends) end()
    }
  }

  #isAllowed({ cwd }: HarnessSession): boolean {
    return cwd !== undefined && isWithin(realPath(cwd), this.#agent.directories)
  }
}

function resolved(session: HarnessSession): HarnessSession {
  return session.cwd === undefined ? session : { ...session, cwd: realPath(session.cwd) }
}

/** A path with its symbolic links resolved; unchanged if the directory no longer exists. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** A harness that was killed reports no end. */
function isAlive({ process: { pid } = { pid: 0 } }: HarnessSession): boolean {
  if (pid === 0) return true
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
