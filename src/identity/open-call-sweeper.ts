import type { Clock } from '../lib/clock.ts'
import { Sweeper } from '../lib/sweeper.ts'
import { openLimits } from '../limits.ts'
import type { Logger } from '../logger.ts'
import { findLiveKeys } from '../registry/callers/api-key-store.ts'
import { findLiveOperatorKeys } from '../registry/callers/operator-key-store.ts'
import type { Database } from '../storage/database.ts'
import type { Holder, OpenCalls } from './open-calls.ts'

const everyMs = openLimits.keyCheck.max * 1_000

/** Asks again whether the keys of what is open are still good: a gateway may not hear that another one took them away. */
export class OpenCallSweeper extends Sweeper {
  readonly #db: Database
  readonly #clock: Clock
  readonly #log: Logger
  readonly #openCalls: OpenCalls
  #looking: Promise<void> | undefined
  #again = false

  constructor({ db, clock, log }: { db: Database; clock: Clock; log: Logger }, openCalls: OpenCalls) {
    super({
      clock,
      everyMs,
      firstAfterMs: everyMs,
      failed: (error) => log.warn({ err: error }, 'open_calls.unchecked'),
    })
    this.#db = db
    this.#clock = clock
    this.#log = log
    this.#openCalls = openCalls
  }

  /** Looks at once: a message of another gateway may have been lost. */
  look(): void {
    this.#again = true
    this.#looking ??= this.#lookNow().finally(() => {
      this.#looking = undefined
    })
  }

  override async stop(): Promise<void> {
    await super.stop()
    await this.#looking
  }

  protected async sweep(): Promise<boolean> {
    const held = this.#openCalls.keys()
    const now = this.#clock.now()
    const expired = held
      .filter(({ expiresAt = Number.POSITIVE_INFINITY }) => expiresAt <= now)
      .map(({ keyId }) => keyId)
    const dead = [
      ...expired,
      ...(await this.#deadAmong(held.filter(isAgentKey), findLiveKeys)),
      ...(await this.#deadAmong(held.filter(isOperatorKey), findLiveOperatorKeys)),
    ]
    if (dead.length > 0) this.#openCalls.end(dead)
    return false
  }

  async #deadAmong(held: readonly Holder[], findLive: typeof findLiveKeys): Promise<string[]> {
    if (held.length === 0) return []
    const asked = held.map(({ keyId }) => keyId)
    const live = new Set(await findLive(this.#db, asked))
    return asked.filter((keyId) => !live.has(keyId))
  }

  async #lookNow(): Promise<void> {
    while (this.#again && !this.signal.aborted) {
      this.#again = false
      await this.sweep().catch((error: unknown) => this.#log.warn({ err: error }, 'open_calls.unchecked'))
    }
  }
}

/** What the store keeps is named by a ULID. The admin key and tokens are not in it. */
const isKept = ({ keyId }: Holder): boolean => /^[0-9A-Z]{26}$/.test(keyId)
const isAgentKey = (holder: Holder): boolean => holder.kind === 'agent' && isKept(holder)
const isOperatorKey = (holder: Holder): boolean => holder.kind === 'operator' && isKept(holder)
