import type { Io } from '../../client/io.ts'
import type { PresenceState } from '../../words/presence.ts'
import type { ReceiptStep } from '../../words/receipts.ts'
import type { OutgoingWake } from '../wake-text.ts'
import type { ProofState } from './protocol.ts'

/** A client has reported that it does not take a wake: it is not in its harness. */
export class WakeDeclined extends Error {}

/**
 * A program of ours inside a harness that has called this bridge, and takes wakes for one conversation: a monitor of a plugin, a
 * waiting hook, an extension, a proxy.
 */
export interface AttachedClient {
  readonly harness: string
  readonly conversationId: string
  readonly cwd?: string
  readonly process?: { readonly pid: number; readonly startedAt?: string }
  /** `monitor`, `rewake`, `extension`, `plugin`, `proxy` */
  readonly route: string
  /** Absent: it does not report it. */
  readonly state?: PresenceState
  /** Its vendor has refused it, and it tries again then, ms since the epoch. */
  readonly retry?: { readonly message: string; readonly next: number }
  readonly activeTurnId?: string
  /** ISO 8601: from then on it does not listen any more. */
  readonly until?: string
  /** Its process: the same after a bridge was started again. Absent: it answers no questions. */
  readonly instance?: string
  /** True when it has taken a wake, since its process began. undefined: it does not report it. Never rejects. */
  hasTaken(wakeId: string): Promise<boolean | undefined>
  /** Resolves when the client has confirmed the wake. Errors: `WakeDeclined`; any other error: the client has ended or does not answer, and may have it. */
  send(wake: OutgoingWake): Promise<void>
}

/** The report of a hook or an attached client about a wake. */
export interface LocalReport {
  readonly wakeId: string
  readonly step: ReceiptStep
  /** Its proof: `UserPromptSubmit`. */
  readonly proof: string
  readonly conversationId?: string
  readonly turnId?: string
}

/** The last report of the hooks of a harness about one conversation. */
export interface ReportedConversation {
  /** As `rouse hook` calls it: `claude`, `gemini`. */
  readonly harness: string
  readonly conversationId: string
  readonly cwd?: string
  readonly process?: { readonly pid: number; readonly startedAt?: string }
  /** The event: `UserPromptSubmit`. */
  readonly event: string
  /** Since the last event that reports it. */
  readonly state?: PresenceState
  readonly activeTurnId?: string
  /** As the harness calls it: `plan`, `bypassPermissions`. */
  readonly permissionMode?: string
  /** ms since the epoch */
  readonly at: number
}

/** The programs that have called this bridge. */
export interface LocalClients {
  /** Those that listen now, the newest first. */
  attached(harness: string): readonly AttachedClient[]
  /** The conversations whose hooks have called and that have not ended, the newest first. A harness that was killed reports no end. */
  reportedConversations(harness: string): readonly ReportedConversation[]
  /** Calls back when a client of a harness comes, goes or changes its state, and when a hook has called. Returns what ends that. */
  onChange(harness: string, changed: () => void): () => void
  /** Resolves with the next report about a wake that `isEnough`; undefined when the signal aborts. A report that came shortly before counts. */
  reported(
    wakeId: string,
    isEnough: (report: LocalReport) => boolean,
    signal: AbortSignal,
  ): Promise<LocalReport | undefined>
}

/** The server of the local socket: `startLocalServer` in `local/server.ts`. Disposing it closes the socket and lets its clients go. */
export interface LocalServer extends LocalClients, AsyncDisposable {
  /** The path of the socket, or the name of the pipe. */
  readonly address: string
}

/** The parts that the server of the local socket is made of. */
export interface LocalServerOptions {
  /** The user's environment: it says where the socket is. */
  readonly env: Io['env']
  /** Returns the answer to a client that sends `{"type":"status"}`, as one line of JSON (`askStatus` in `local/ask-bridge.ts`). */
  readonly status: () => Promise<object>
  /** Begins the proof of a recipe, or reports how it stands. `agent`: `@donna`, or the name of a profile. */
  readonly prove: (agent: string, run: string) => Promise<ProofState>
  /** A line for the user. */
  readonly note: (text: string) => void
}
