import { Refused } from '../../client/failure.ts'
import type { GatewayClient } from '../../client/gateway-client.ts'
import type { PresenceSource } from '../../words/presence.ts'
import type { AdapterId, HarnessSession } from '../adapter.ts'
import { isOf, type KnownSession } from '../target/same-conversation.ts'
import type { OwnSession } from './own-session.ts'

interface PresenceParts {
  readonly gateway: GatewayClient
  readonly own: OwnSession
  /** The conversations that a watch has reported, in the directories and harnesses of the agent. */
  readonly reported: () => readonly HarnessSession[]
  /** Returns the source of the presence that an adapter reports; undefined: the bridge. */
  readonly sourceOf: (adapter: AdapterId) => PresenceSource | undefined
  /** ms since the epoch */
  readonly now: () => number
}

/** The gateway takes an older report for unknown after two minutes. */
const againMs = 60_000
/** A harness reports many changes at once. */
const gatherMs = 200
const sessionAgeMsMax = 5 * 60_000

/**
 * Reports the state of an agent's conversation, if its harness reports changes and the gateway has a session for it: on each change, and
 * every minute. It starts no session. Source: S1-8, S1-14.
 */
export class PresenceReport {
  readonly #parts: PresenceParts
  readonly #stopping = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #reporting: Promise<void> | undefined
  #isChanged = false
  #last: { readonly text: string; readonly at: number } | undefined

  constructor(parts: PresenceParts) {
    this.#parts = parts
  }

  /** Something that a watch has reported is new. Returns at once. */
  note(): void {
    if (this.#stopping.signal.aborted || this.#isChanged) return
    this.#isChanged = true
    this.#after(gatherMs)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    clearTimeout(this.#timer)
    await this.#reporting
  }

  #after(ms: number): void {
    clearTimeout(this.#timer)
    if (this.#stopping.signal.aborted) return
    this.#timer = setTimeout(() => {
      this.#reporting = this.#report().finally(() => {
        this.#reporting = undefined
      })
    }, ms)
  }

  async #report(): Promise<void> {
    this.#isChanged = false
    const { reported, own } = this.#parts
    const found = reported()
    // Nothing to repeat: the next change begins it again.
    if (found.length === 0) return
    try {
      const { signal } = this.#stopping
      const known = await own.recent(sessionAgeMsMax, signal)
      const session = known && found.find((one) => isOf(known, one))
      if (known && session) await this.#put(known, session)
    } catch {
      // The gateway is away, or has no such session any more: the next report asks again.
      own.forget()
    }
    this.#after(this.#isChanged ? gatherMs : againMs)
  }

  async #put(known: KnownSession, { harness, state, activeTurnId }: HarnessSession): Promise<void> {
    const { gateway, now, own, sourceOf } = this.#parts
    const turn = activeTurnId && (state === 'active' || state === 'waitingOnApproval') ? { activeTurnId } : {}
    const { pid, startedAt } = known
    const body = {
      state,
      source: sourceOf(harness) ?? 'bridge-daemon',
      ...turn,
      // Of no other process than the one that was seen.
      ...(pid === undefined || startedAt === undefined ? {} : { process: { pid, startedAt } }),
    }
    const text = JSON.stringify(body)
    const isFresh = this.#last?.text === text && now() - this.#last.at < againMs / 2
    if (isFresh) return
    try {
      await gateway.call('PUT /v1/presence', { body, mail: 'none', signal: this.#stopping.signal, timeoutMs: 10_000 })
      this.#last = { text, at: now() }
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      own.forget()
    }
  }
}
