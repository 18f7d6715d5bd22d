import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../logger.ts'
import { noteKeyUse } from '../registry/callers/api-key-store.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { noteOperatorKeyUse } from '../registry/callers/operator-key-store.ts'
import type { Database } from '../storage/database.ts'

/** A use is worth a write only when the last one that was written is this old. */
const usedAgainMs = 60_000
/** Uses wait so long for others, and are written together. */
const gatherMs = 1_000
const keysMax = 20_000

interface UseContext {
  readonly db: Database
  readonly clock: Clock
  readonly log: Logger
}

/** Notes when keys were last shown: at most once a minute for each, many in one transaction, and never within a request. */
export class KeyUse implements AsyncDisposable {
  readonly #context: UseContext
  readonly #notedAt = new Map<string, number>()
  #waiting = new Set<string>()
  #cancel: (() => void) | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(context: UseContext) {
    this.#context = context
  }

  /** Notes that a key was shown. Returns at once. */
  readonly saw = ({ keyId }: Pick<Caller, 'keyId'>): void => {
    if (!isStored(keyId)) return
    const now = this.#context.clock.now()
    const notedAt = this.#notedAt.get(keyId)
    if (notedAt !== undefined && now >= notedAt && now - notedAt < usedAgainMs) return
    if (this.#notedAt.size >= keysMax) this.#notedAt.clear()
    this.#notedAt.set(keyId, now)
    this.#waiting.add(keyId)
    this.#cancel ??= this.#context.clock.after(gatherMs, () => void this.flush())
  }

  /** Writes what waits. Resolves when it is written. */
  flush(): Promise<void> {
    this.#cancel?.()
    this.#cancel = undefined
    const ids = [...this.#waiting]
    this.#waiting = new Set()
    if (ids.length > 0) this.#writing = this.#writing.then(() => this.#write(ids))
    return this.#writing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.flush()
  }

  async #write(ids: readonly string[]): Promise<void> {
    const { db, clock, log } = this.#context
    const at = clock.now()
    try {
      // Rows are taken in one order by every gateway.
      const ordered = [...ids].sort()
      await db.transaction(async (tx) => {
        await noteKeyUse(tx, ordered, at)
        await noteOperatorKeyUse(tx, ordered, at)
      })
    } catch (error) {
      for (const id of ids) this.#notedAt.delete(id)
      log.warn({ err: error, keys: ids.length }, 'key.use_unwritten')
    }
  }
}

/** The admin key and the tokens of issuers have no row. */
function isStored(keyId: string): boolean {
  return keyId !== 'admin' && !keyId.startsWith('jwt:')
}
