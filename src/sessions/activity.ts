import type { Base } from '../core.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { newestLiveSession, seeSession } from '../registry/sessions/session-store.ts'

/** A sign of life is worth a write only when the last one is this old. */
const seenAgainMs = 15_000
const agentsMax = 20_000

/** Takes any call of an agent for a sign of life of its session, behind the call and never in front of it. Source: S4-8. */
export class SessionActivity implements AsyncDisposable {
  readonly #context: Base
  readonly #notedAt = new Map<string, number>()
  readonly #writing = new Set<Promise<void>>()

  constructor(context: Base) {
    this.#context = context
  }

  /** Notes that an agent showed its key. Returns at once. */
  readonly saw = (caller: Caller): void => {
    if (caller.kind !== 'agent') return
    const now = this.#context.clock.now()
    const notedAt = this.#notedAt.get(caller.id)
    if (notedAt !== undefined && now >= notedAt && now - notedAt < seenAgainMs) return
    if (this.#notedAt.size >= agentsMax) this.#notedAt.clear()
    this.#notedAt.set(caller.id, now)
    const writing = this.#note(caller.id, now).finally(() => this.#writing.delete(writing))
    this.#writing.add(writing)
  }

  /** Resolves when all that was noted is written. */
  async settled(): Promise<void> {
    await Promise.all(this.#writing)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.settled()
  }

  /** An agent without a session, and one that another gateway saw, cost a look and no write. */
  async #note(agentId: string, now: number): Promise<void> {
    const { db, log } = this.#context
    try {
      const session = await newestLiveSession(db, agentId)
      if (!session || Math.abs(now - session.lastSeenAt) < seenAgainMs) return
      // At the time of the sign of life, whenever it is written.
      await db.transaction((tx) => seeSession(tx, session.id, seenAgainMs, now))
    } catch (error) {
      this.#notedAt.delete(agentId)
      log.warn({ err: error, agentId }, 'session.unseen')
    }
  }
}
