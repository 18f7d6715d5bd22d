import { WriteBehind } from '../lib/write-behind.ts'
import type { Base } from '../log/core.ts'
import { noteKeyUse } from '../registry/callers/api-key-store.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { noteOperatorKeyUse } from '../registry/callers/operator-key-store.ts'

/** A use is written only when the last written use of the key is this old. */
const usedAgainMs = 60_000
/** How long uses wait for others, so that one transaction writes many. */
const writeMs = 1_000
const keysMax = 20_000

/** Records when keys were last used: at most once a minute for each key, many in one transaction, never within a request. */
export class KeyUse implements AsyncDisposable {
  readonly #context: Base
  readonly #writer: WriteBehind
  readonly #notedAt = new Map<string, number>()
  #waiting = new Set<string>()

  constructor(context: Base) {
    this.#context = context
    const failed = (err: unknown) => context.log.warn({ err }, 'key.use_unwritten')
    this.#writer = new WriteBehind({ clock: context.clock, write: () => this.#write(), retryMs: usedAgainMs, failed })
  }

  /** Notes that a key was used. Returns at once. */
  readonly saw = ({ keyId }: Pick<Caller, 'keyId'>): void => {
    if (!isStored(keyId)) return
    const now = this.#context.clock.now()
    const notedAt = this.#notedAt.get(keyId)
    if (notedAt !== undefined && now >= notedAt && now - notedAt < usedAgainMs) return
    if (this.#notedAt.size >= keysMax) this.#notedAt.clear()
    this.#notedAt.set(keyId, now)
    this.#waiting.add(keyId)
    this.#writer.schedule(writeMs)
  };

  /** Writes what waits, once. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#writer[Symbol.asyncDispose]()
  }

  async #write(): Promise<void> {
    // All gateways write the rows in the same order, so that no two of them wait for each other.
    const ids = [...this.#waiting].sort()
    this.#waiting = new Set()
    if (ids.length === 0) return
    const { db, clock } = this.#context
    const at = clock.now()
    try {
      await db.transaction(async (tx) => {
        await noteKeyUse(tx, ids, at)
        await noteOperatorKeyUse(tx, ids, at)
      })
    } catch (error) {
      // The next use of the key is written again, because this one was not.
      for (const id of ids) this.#notedAt.delete(id)
      throw error
    }
  }
}

/** The admin key and the tokens of issuers have no row. */
function isStored(keyId: string): boolean {
  return keyId !== 'admin' && !keyId.startsWith('jwt:')
}
