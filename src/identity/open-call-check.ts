import type { Base } from '../core.ts'
import { openLimits } from '../gateway-limits.ts'
import type { Sweep } from '../lib/sweeper.ts'
import { findLiveKeys } from '../registry/callers/api-key-store.ts'
import { findLiveOperatorKeys } from '../registry/callers/operator-key-store.ts'
import { findRevokedTokens } from '../registry/callers/revoked-token-store.ts'
import type { OpenCaller, OpenCalls } from './open-calls.ts'

const everyMs = openLimits.keyCheck.max * 1_000

/**
 * Checks whether the keys of open calls are still valid, and ends the calls of those that are not: a message of another gateway
 * that revoked a key may be lost, and the clock may have been set forward.
 */
export class OpenCallCheck implements AsyncDisposable {
  readonly #core: Base
  readonly #openCalls: OpenCalls
  #checking: Promise<void> | undefined
  #again = false
  #isStopped = false

  constructor(core: Base, openCalls: OpenCalls) {
    this.#core = core
    this.#openCalls = openCalls
  }

  /** The check as a sweep of this gateway. */
  get sweep(): Sweep {
    return {
      name: 'open-calls',
      everyMs,
      firstAfterMs: everyMs,
      run: async () => {
        await this.#check()
        return false
      },
    }
  }

  /** Checks now: a message of another gateway may have been lost. Calls during a check cause one more. */
  checkNow(): void {
    this.#again = true
    this.#checking ??= this.#checkAgain().finally(() => {
      this.#checking = undefined
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true
    await this.#checking
  }

  async #checkAgain(): Promise<void> {
    while (this.#again && !this.#isStopped) {
      this.#again = false
      await this.#check().catch((error: unknown) => this.#core.log.warn({ err: error }, 'open_calls.unchecked'))
    }
  }

  async #check(): Promise<void> {
    const callers = this.#openCalls.keys()
    this.#openCalls.endExpired()
    const dead = [
      ...(await this.#deadAmong(callers.filter(isAgentKey), findLiveKeys)),
      ...(await this.#deadAmong(callers.filter(isOperatorKey), findLiveOperatorKeys)),
      ...(await findRevokedTokens(
        this.#core.db,
        callers.filter(isToken).map(({ keyId }) => keyId),
      )),
    ]
    if (dead.length > 0) this.#openCalls.end(dead)
  }

  async #deadAmong(callers: readonly OpenCaller[], findLive: typeof findLiveKeys): Promise<string[]> {
    if (callers.length === 0) return []
    const keyIds = callers.map(({ keyId }) => keyId)
    const live = new Set(await findLive(this.#core.db, keyIds))
    return keyIds.filter((keyId) => !live.has(keyId))
  }
}

/** Stored keys have a ULID as their id. The admin key and tokens are not stored, but revoked tokens are. */
const isStored = ({ keyId }: OpenCaller): boolean => /^[0-9A-Z]{26}$/.test(keyId)
const isAgentKey = (caller: OpenCaller): boolean => caller.kind === 'agent' && isStored(caller)
const isOperatorKey = (caller: OpenCaller): boolean => caller.kind === 'operator' && isStored(caller)
const isToken = ({ keyId }: OpenCaller): boolean => keyId.startsWith('jwt:')
