import type {
  Adapter,
  AdapterContext,
  AdapterRow,
  HarnessSession,
  NoteAsked,
  NoteLimit,
  OutgoingWake,
  Probe,
  UsageLimit,
  WakeEnd,
  WakeTools,
} from '../../../bridge/adapter.ts'
import { CodexAccess } from './access.ts'
import { probeCodex } from './probe.ts'
import { codexSettings, settingMeanings } from './settings.ts'
import { type CodexFindResult, findWake, takeBackWake } from './wake/find-wake.ts'
import { handOver } from './wake/hand-over.ts'
import { HostedTurns } from './wake/hosted-turns.ts'
import { type WakeTimes, wakeTimes } from './wake/verdict.ts'
import { watchCodex } from './watch.ts'

export const codexRow: AdapterRow = {
  id: 'codex',
  title: 'Codex',
  presenceSource: 'codex-app-server',
  proves: ['written', 'held', 'delivered', 'turn_started'],
  settings: settingMeanings,
  create: (context) => new CodexAdapter(context),
}

/** The way into Codex: the queue of its conversations. */
export class CodexAdapter implements Adapter {
  readonly #context: AdapterContext
  readonly #access: CodexAccess
  readonly #hosted: HostedTurns
  readonly #times: WakeTimes
  #noteLimit: NoteLimit = () => {}
  #noteAsked: NoteAsked | undefined

  constructor(context: AdapterContext, times: WakeTimes = wakeTimes) {
    this.#context = context
    this.#access = new CodexAccess(codexSettings(context), context.env)
    this.#hosted = new HostedTurns(context.note)
    this.#times = times
  }

  probe(signal: AbortSignal): Promise<Probe> {
    return probeCodex(this.#access, this.#context, signal)
  }

  watch(noteSession: (session: HarnessSession) => void, signal: AbortSignal): Promise<void> {
    const limit = (shown: UsageLimit, conversationId: string) => this.#noteLimit(shown, { conversationId })
    const asked = () => this.#noteAsked
    return watchCodex(this.#access, this.#context, { session: noteSession, limit, asked }, signal)
  }

  onLimit(noteLimit: NoteLimit): void {
    this.#noteLimit = noteLimit
  }

  onAsked(noteAsked: NoteAsked): void {
    this.#noteAsked = noteAsked
  }

  wake({ conversationId }: HarnessSession, wake: OutgoingWake, tools: WakeTools): Promise<WakeEnd> {
    const options = { access: this.#access, hosted: this.#hosted, context: this.#context, times: this.#times }
    return handOver(options, conversationId, wake, tools)
  }

  find({ conversationId }: HarnessSession, wakeId: string, signal: AbortSignal): Promise<CodexFindResult> {
    return findWake(this.#access, conversationId, wakeId, signal)
  }

  takeBack({ conversationId }: HarnessSession, wakeId: string): Promise<boolean> {
    return takeBackWake(this.#access, conversationId, wakeId)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#hosted[Symbol.asyncDispose]()
  }
}
