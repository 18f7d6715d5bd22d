import type { Clock } from '../lib/clock.ts'
import { Sweeper } from '../lib/sweeper.ts'
import type { Logger } from '../logger.ts'
import { gatewayIdentity } from '../registry/agents/identity.ts'
import { listExpiredKeys, revokeApiKey } from '../registry/callers/api-key-store.ts'
import { listRevokedKeysInUse } from '../registry/callers/live-key.ts'
import { listExpiredOperatorKeys, revokeOperatorKey } from '../registry/callers/operator-key-store.ts'
import { removeExpiredTokens } from '../registry/callers/revoked-token-store.ts'
import { type EndedKey, endKeys, type KeyContext } from './end-keys.ts'

/** A key is refused from the instant of its end; what hangs on it ends so much later at most. */
const sweepMs = 15_000
const batchMax = 100
/** Whatever was written beside a revocation is there after so long. */
const lateMs = 60_000
const revokedMax = 5_000

/** Ends what hangs on keys whose end has come, as a revocation does. Any number of gateways may do so at once. */
export class KeySweeper extends Sweeper {
  readonly #context: KeyContext
  readonly #clock: Clock
  readonly #log: Logger

  /** `isTurn`: whether this gateway is the one to sweep. */
  constructor(context: KeyContext, clock: Clock, log: Logger, isTurn?: (name: string) => Promise<boolean>) {
    super({
      clock,
      everyMs: sweepMs,
      isTurn: isTurn && (() => isTurn('keys')),
      failed: (err) => log.error({ err }, 'key.sweep_failed'),
    })
    this.#context = context
    this.#clock = clock
    this.#log = log
  }

  /** One pass. Answers how many keys it ended. */
  async runOnce(): Promise<number> {
    const { db } = this.#context
    const now = this.#clock.now()
    let ended = 0
    for (const key of await listExpiredKeys(db, now, batchMax)) {
      if (await this.#end(key, (tx) => revokeApiKey(tx, key.keyId))) ended++
    }
    for (const keyId of await listExpiredOperatorKeys(db, now, batchMax)) {
      if (await this.#end({ keyId }, (tx) => revokeOperatorKey(tx, keyId))) ended++
    }
    for (const keyId of await listRevokedKeysInUse(db, now - lateMs, revokedMax)) await this.#endLateComers({ keyId })
    await removeExpiredTokens(db, now, batchMax)
    return ended
  }

  /** Each by itself: what one has to end holds nobody up. */
  #end(key: EndedKey, revoke: (tx: Parameters<typeof revokeApiKey>[0]) => Promise<boolean>): Promise<boolean> {
    return this.#context.db.transaction(async (tx) => {
      if (!(await revoke(tx))) return false
      await endKeys(this.#context, tx, [key], { reason: 'key-expired', actor: gatewayIdentity })
      return true
    })
  }

  #endLateComers(key: EndedKey): Promise<void> {
    const ending = { reason: 'key-revoked', actor: gatewayIdentity, isAgain: true } as const
    return this.#context.db.transaction((tx) => endKeys(this.#context, tx, [key], ending))
  }

  protected async sweep(): Promise<boolean> {
    const ended = await this.runOnce()
    if (ended > 0) this.#log.info({ ended }, 'key.expired')
    return ended >= batchMax
  }
}
