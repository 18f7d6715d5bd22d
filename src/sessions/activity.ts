import type { Base } from '../log/core.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { newestLiveSession } from '../registry/sessions/session-lists.ts'
import { noteAct, seeSession } from '../registry/sessions/session-store.ts'

/** A sign of life is written only if the last written one is this old. */
const seenAgainMs = 15_000
const agentsMax = 20_000

/**
 * Records the acts of a harness as signs of life of its session, after the call, so that no call waits for it. A call of a program beside
 * the harness is none: that program may outlive it. Source: S4-8.
 */
export class SessionActivity implements AsyncDisposable {
  readonly #context: Base
  readonly #notedAt = new Map<string, number>()
  readonly #writing = new Set<Promise<void>>()

  constructor(context: Base) {
    this.#context = context
  }

  /** Notes a call of an agent. `isAct`: its harness made it, and no program beside it. Returns at once. */
  readonly saw = (caller: Caller, isAct: boolean): void => {
    if (caller.kind !== 'agent' || !isAct) return
    const now = this.#context.clock.now()
    const notedAt = this.#notedAt.get(caller.id)
    if (notedAt !== undefined && now >= notedAt && now - notedAt < seenAgainMs) return
    if (this.#notedAt.size >= agentsMax) this.#notedAt.clear()
    this.#notedAt.set(caller.id, now)
    const writing = this.#note(caller.id, now).finally(() => this.#writing.delete(writing))
    this.#writing.add(writing)
  }

  /** Resolves when all noted calls are written. */
  async settled(): Promise<void> {
    await Promise.all(this.#writing)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.settled()
  }

  /** An agent without a session, and an agent that another gateway has just recorded, cost a read and no write. */
  async #note(agentId: string, now: number): Promise<void> {
    const { db, log } = this.#context
    try {
      const session = await newestLiveSession(db, agentId)
      const isNoted = session && Math.abs(now - session.actedAt) < seenAgainMs
      if (!session || (isNoted && Math.abs(now - session.lastSeenAt) < seenAgainMs)) return
      // The time of the call, not the time of the write.
      await db.transaction(async (tx) => {
        await seeSession(tx, session.id, seenAgainMs, now)
        await noteAct(tx, session.id, now)
      })
    } catch (error) {
      this.#notedAt.delete(agentId)
      log.warn({ err: error, agentId }, 'session.unseen')
    }
  }
}
