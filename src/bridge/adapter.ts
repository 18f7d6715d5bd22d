import type { GatewayClient } from '../client/gateway-client.ts'
import type { Io } from '../client/io.ts'
import type { JsonObject } from '../lib/json.ts'
import type { PresenceSource, PresenceState } from '../words/presence.ts'
import type { ReceiptStep } from '../words/receipts.ts'
import type { Reason } from '../words/sender-view.ts'
import type { LocalClients } from './local/clients.ts'
import type { OutgoingWake } from './wake-text.ts'

export type { OutgoingWake } from './wake-text.ts'

/** The key of an adapter: `codex`, `tmux`. Receipts name it as their source. */
export type AdapterId = string

/** The adapters that there are, by their keys, each loaded when it is used. */
export type Adapters = Readonly<Record<AdapterId, () => Promise<AdapterRow>>>

/**
 * One way into one kind of harness. It looks at what runs on this machine, and hands a wake to exactly one conversation. It gives a
 * person's answer on, and has none of its own: for no approval, no question, no draft. The bridge is given its adapters (`src/harnesses/adapters.ts`), and names none.
 */
export interface Adapter extends AsyncDisposable {
  /** Looks what is there. Changes nothing, starts no turn, and ends within seconds. What went wrong is a remark, not an error. */
  probe(signal: AbortSignal): Promise<Probe>
  /**
   * Reports each change of the state of a conversation, until the signal aborts. Absent: the harness reports no changes, and the bridge
   * calls `probe` when it needs the state.
   */
  watch?(noteSession: (session: HarnessSession) => void, signal: AbortSignal): Promise<void>
  /**
   * Starts one turn with a wake, or reports why not. Reads the state again immediately before it acts: if the harness waits for its user, has
   * a draft that would be lost, or cannot be read, the wake is `held`. Resolves when nothing more can be known: while the harness has a
   * wake and has not begun its turn, the adapter reports `held` and keeps following it. An unexpected error rejects: the wake is
   * `unknown` if `handingOver` was called, otherwise `failed`. Source: S1-9…S1-13.
   */
  wake(session: HarnessSession, wake: OutgoingWake, tools: WakeTools): Promise<WakeEnd>
  /**
   * Finds the outcome of a wake that an earlier process handed over. `absent`: the harness never got it, so it may be handed over again;
   * `waits`: the harness has it and has not begun its turn, so the bridge calls `find` again when the state changes; `delivered`: it joined
   * another turn; `written`: the harness got it, and nothing more can be known; `unknown`: it cannot be determined, so the wake is not sent
   * again. For a conversation that no longer exists, `session` has its id and the state `unknown`. `way`: the argument of `handingOver`.
   */
  find(session: HarnessSession, wakeId: string, signal: AbortSignal, way?: string): Promise<FindResult>
  /**
   * Takes back a wake that `find` has found waiting and that the bridge gives up, so that it begins no unexpected turn. Returns whether it
   * was still there. Absent: the harness does not allow it. Errors: the harness does not answer.
   */
  takeBack?(session: HarnessSession, wakeId: string, signal: AbortSignal): Promise<boolean>
  /**
   * Reports each time that a harness shows that a conversation is at a limit of its vendor, from now on. Absent: the harness does not
   * show it. Source: D50.
   */
  onLimit?(noteLimit: NoteLimit): void
  /**
   * Reports each time that a conversation asks its user for an approval or an answer, from now on, and of those that wait already. Absent: the
   * harness takes no answer but that of its own screen.
   */
  onAsked?(noteAsked: NoteAsked): void
}

/** A request of a harness to its user: for the permission to use a tool, or for the answers to questions. */
export interface UserRequest {
  /** The id under which the harness knows the conversation. */
  readonly conversationId: string
  readonly kind: 'permission' | 'question'
  /** `Bash` */
  readonly tool: string
  /** All that the harness shows of it. Of questions: `questions`, with `question`, `header`, `multiSelect`, `options` of `label`, `description`. */
  readonly input: JsonObject
  /** The words of the model. */
  readonly reason?: string | undefined
  readonly cwd?: string | undefined
  readonly mode?: string | undefined
}

/** A request that waits, and the way to answer it. */
export interface Asked extends UserRequest {
  /** Of this request alone: the harness may ask the same again. */
  readonly nonce: string
  /** Gives the answer of a person to the harness. `late`: it has another one; undefined: it does not show. Errors: the harness does not answer. */
  answer(decision: Decision): Promise<'taken' | 'late' | undefined>
  /** Aborts when it waits no more. Its reason is the state of its record: `answered_there`, or `withdrawn` where the harness is gone. */
  readonly ended: AbortSignal
}

/** Takes a request of a harness. */
export type NoteAsked = (asked: Asked) => void

/** The answer of a person. */
export type Decision =
  | { readonly answer: 'once' }
  /** `message`: for the model, where the harness has a place for it. */
  | { readonly answer: 'deny'; readonly message?: string }
  /** By the text of each question: a label, several as `A, C`, or other words. */
  | { readonly answer: 'answer'; readonly answers: Readonly<Record<string, string>> }

/** A limit of a vendor, as a harness has shown it. */
export interface UsageLimit {
  /** A number of requests a minute, an allowance with a reset, or a cap that a person has to lift. */
  readonly reason: 'rate-limit' | 'usage-limit' | 'spend-cap'
  /** When it is over, ms since the epoch; null: when a person has acted. */
  readonly until: number | null
  /** In the words of the harness, one line of at most 200 characters. */
  readonly detail?: string
}

/** Takes a limit that a harness has shown. */
export type NoteLimit = (limit: UsageLimit, at: LimitedAt) => void

/** The conversation, or the agent, that a limit was shown to. */
export interface LimitedAt {
  readonly conversationId?: string
  /** `@donna`: whose wake it was; absent: the conversation decides. */
  readonly agent?: string
}

/** The outcome of a wake that was handed over: the result of `Adapter.find`. */
export type FindResult = 'turn_started' | 'delivered' | 'written' | 'waits' | 'absent' | 'unknown'

/** The facts about an adapter that are known without starting it. */
export interface AdapterRow {
  readonly id: AdapterId
  /** `Codex` */
  readonly title: string
  /** The source of the presence that it reports (default: `bridge-daemon`). */
  readonly presenceSource?: PresenceSource
  /** The steps that it can prove, the strongest last. It reports no other. */
  readonly proves: readonly ReceiptStep[]
  /** True when it is used only where the configuration names it. */
  readonly isOptIn?: true
  /** The settings of its configuration, each with its meaning. */
  readonly settings: Readonly<Record<string, SettingMeaning>>
  create(context: AdapterContext): Adapter
}

/** The meaning of one setting of an adapter. */
export interface SettingMeaning {
  readonly type: 'boolean' | 'number' | 'string' | 'strings'
  readonly help: string
}

/** The parts that an adapter is made of. */
export interface AdapterContext {
  readonly env: Io['env']
  /** As its row describes them; the user's configuration, never a peer's text. */
  readonly settings: Readonly<Record<string, unknown>>
  /** The directories whose conversations the user has allowed, absolute; a conversation elsewhere is not reached. */
  readonly directories: readonly string[]
  /** Programs of ours that run inside harnesses, and have called this bridge. */
  readonly clients: LocalClients
  /** ms since the epoch */
  readonly now: () => number
  /** A line for the user about what the adapter does. */
  readonly note: (text: string) => void
}

/** The findings of an adapter. */
export interface Probe {
  /** True when the harness is installed or runs here. */
  readonly isThere: boolean
  readonly version?: string
  readonly sessions: readonly HarnessSession[]
  /** Faults and their remedies, a sentence each. */
  readonly remarks: readonly string[]
}

/** A conversation of a harness on this machine. */
export interface HarnessSession {
  readonly harness: AdapterId
  /** The id under which the harness knows the conversation. A tmux pane: `%3`. */
  readonly conversationId: string
  /** Where it works; absolute. */
  readonly cwd?: string
  /** The process of the harness, as its hooks name it (`harnessProcess`): its end ends the conversation. `startedAt`: ISO 8601. */
  readonly process?: { readonly pid: number; readonly startedAt?: string }
  readonly state: PresenceState
  readonly activeTurnId?: string
  /** The way that a wake would take now: `queue`, `monitor`, `inbox socket`. Absent: it cannot be reached. */
  readonly route?: string
  /** Why it cannot be reached, or what would give a stronger proof: a sentence with the remedy. */
  readonly remark?: string
}

/** The acts that an adapter may do while it hands a wake over. */
export interface WakeTools {
  /**
   * Call it before the act that cannot be taken back. Resolves when a record is on the disk: after a crash the bridge asks `find` instead of acting
   * again. Rejects when the wake must not be handed over any more: return at once. Each call books a turn.
   */
  handingOver(route: string): Promise<void>
  /** Reports a step on the way, with its proof: never more than was proven. `held`: the harness has it and has not begun; `reason`: what its sender may know. */
  report(step: 'accepted' | 'routed' | 'written' | 'delivered', detail: string): void
  report(step: 'held', detail: string, reason: Reason): void
  /** Aborts when the bridge stops or the subscription is gone: stop waiting. A wake that was handed over is found again later. */
  readonly signal: AbortSignal
  /** The gateway, as the agent that is woken: for a program that is started for it. */
  readonly gateway?: GatewayClient
}

/** An attempt that had not begun when the bridge stopped. */
export const bridgeStops: WakeEnd = { step: 'held', detail: 'The bridge stops.', reason: 'cannot_start_turn' }

/** How an attempt ended. */
export type WakeEnd =
  /** Handed over, and no more will be known; or the strongest proof. `detail`: what proved it. */
  | { readonly step: 'written' | 'delivered' | 'turn_started' | 'seen' | 'acked'; readonly detail: string }
  /**
   * Nothing was handed over, or it was taken back. Tried again when the state changes, and after `retryAfterMs` at the latest. `reason`:
   * what its sender may know; `detail` is for the user of the bridge. `isTurn`: a process or a turn was begun all the same, and counts.
   */
  | {
      readonly step: 'held'
      readonly detail: string
      readonly retryAfterMs?: number
      readonly reason: Reason
      readonly isTurn?: true
    }
  /** It will not be tried again. */
  | {
      readonly step: 'denied' | 'refused' | 'expired' | 'misaddressed' | 'dropped' | 'unknown'
      readonly detail: string
    }
  /**
   * Nothing was handed over, and the gateway may try again. After `handingOver` it is `unknown`, unless `isUntouched`: the harness has
   * reported that it does not have it, so that it cannot begin two turns. `givenUp`: called when the gateway does not try again.
   */
  | {
      readonly step: 'failed'
      readonly detail: string
      readonly isUntouched?: true
      readonly isTurn?: true
      readonly givenUp?: () => Promise<void>
    }
