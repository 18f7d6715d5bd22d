import type { Clock } from '../lib/clock.ts'
import { Sweeper } from '../lib/sweeper.ts'
import type { Logger } from '../logger.ts'
import { hasEndedBefore, listSilentSessions, removeEndedSessions } from '../registry/sessions/session-store.ts'
import type { SessionContext } from './context.ts'
import { dropSilentSession } from './end.ts'

const sweepMs = 5_000
/** While no gateway ran nobody could be heard: whoever still lives says so first. */
const graceMs = 60_000
const batchMax = 100
/** How long it can be read what became of a session. */
const keptMs = 30 * 24 * 60 * 60 * 1000

/** Ends the sessions that have been silent too long, with the reason `timeout`. Any number of gateways may do so at once. Source: S4-8. */
export class SessionSweeper extends Sweeper {
  readonly #context: SessionContext
  readonly #clock: Clock
  readonly #log: Logger

  /** `isTurn`: whether this gateway is the one to sweep. */
  constructor(context: SessionContext, clock: Clock, log: Logger, isTurn?: (name: string) => Promise<boolean>) {
    super({
      clock,
      everyMs: sweepMs,
      firstAfterMs: graceMs,
      isTurn: isTurn && (() => isTurn('sessions')),
      failed: (err) => log.error({ err }, 'session.sweep_failed'),
    })
    this.#context = context
    this.#clock = clock
    this.#log = log
  }

  /** One pass. Answers how many sessions it ended; forgets old ones on the way. */
  async runOnce(): Promise<number> {
    const { db, timeoutMs } = this.#context
    const now = this.#clock.now()
    const before = now - timeoutMs
    let ended = 0
    for (const session of await listSilentSessions(db, before, batchMax)) {
      // Each by itself: what one has to tell holds nobody up.
      if (await db.transaction((tx) => dropSilentSession(this.#context, tx, session, before))) ended++
    }
    await this.#forget(now - keptMs)
    return ended
  }

  async #forget(before: number): Promise<void> {
    const { db } = this.#context
    if (await hasEndedBefore(db, before)) await db.transaction((tx) => removeEndedSessions(tx, before, batchMax))
  }

  protected async sweep(): Promise<boolean> {
    const ended = await this.runOnce()
    if (ended > 0) this.#log.info({ ended }, 'session.timed_out')
    return ended === batchMax
  }
}
