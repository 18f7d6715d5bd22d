import type {
  Adapter,
  AdapterId,
  AdapterRow,
  Asked,
  HarnessSession,
  LimitedAt,
  OutgoingWake,
  UsageLimit,
  WakeEnd,
  WakeTools,
} from '../../../src/bridge/adapter.ts'
import { reasonOfState } from '../../../src/bridge/reason-of-state.ts'

/** A harness whose conversations and answers a test writes. */
export class FakeHarness {
  readonly id: AdapterId
  sessions: HarnessSession[] = []
  /** The wakes that began a turn. */
  readonly turns: OutgoingWake[] = []
  /** The wakes that the bridge has looked for after a restart. */
  readonly sought: string[] = []
  /** The outcome of a wake (default: a turn where the harness is idle). */
  onWake: (session: HarnessSession, wake: OutgoingWake, tools: WakeTools) => Promise<WakeEnd>
  found: Awaited<ReturnType<Adapter['find']>> = 'unknown'
  /** The wakes that it lets be taken back; absent: none. */
  onTakeBack: ((wakeId: string) => boolean) | undefined
  /** Shows a limit of its vendor. */
  limit: (limit: UsageLimit, at: LimitedAt) => void = () => {}
  /** Asks its user something. */
  asked: (asked: Asked) => void = () => {}
  /** True when somebody takes what it asks. */
  asksElsewhere = false
  readonly #watchers = new Set<(session: HarnessSession) => void>()

  constructor(id: AdapterId = 'codex') {
    this.id = id
    this.onWake = (session, wake, tools) => this.begin(session, wake, tools)
  }

  /** Begins a turn, as a harness does that is idle. */
  async begin(session: HarnessSession, wake: OutgoingWake, tools: WakeTools): Promise<WakeEnd> {
    const { state } = this.sessions.find(({ conversationId }) => conversationId === session.conversationId) ?? session
    if (state !== 'idle') return { step: 'held', detail: `it is ${state}`, reason: reasonOfState(state) }
    await tools.handingOver('queue')
    this.turns.push(wake)
    return { step: 'turn_started', detail: 'turn/started' }
  }

  /** A conversation appears, or changes, and the watch tells it. */
  set(session: Partial<HarnessSession> & { readonly cwd: string }): void {
    const whole: HarnessSession = {
      harness: this.id,
      conversationId: 'thread',
      state: 'idle',
      route: 'queue',
      ...session,
    }
    this.sessions = [...this.sessions.filter(({ conversationId }) => conversationId !== whole.conversationId), whole]
    for (const watcher of this.#watchers) watcher(whole)
  }

  row(): AdapterRow {
    const adapter: Adapter = {
      probe: async () => ({ isThere: true, version: '1.0', sessions: this.sessions, remarks: [] }),
      watch: async (noteSession, signal) => {
        this.#watchers.add(noteSession)
        for (const session of this.sessions) noteSession(session)
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
        this.#watchers.delete(noteSession)
      },
      wake: (session, wake, tools) => this.onWake(session, wake, tools),
      find: async (_session, wakeId) => {
        this.sought.push(wakeId)
        return this.found
      },
      onLimit: (noteLimit) => {
        this.limit = noteLimit
      },
      onAsked: (noteAsked) => {
        this.asked = noteAsked
        this.asksElsewhere = true
      },
      ...(this.onTakeBack ? { takeBack: async (_session, wakeId) => this.onTakeBack!(wakeId) } : {}),
      [Symbol.asyncDispose]: async () => {},
    }
    return {
      id: this.id,
      title: 'Fake',
      presenceSource: 'codex-app-server',
      proves: ['written', 'delivered', 'turn_started'],
      settings: {},
      create: () => adapter,
    }
  }
}
