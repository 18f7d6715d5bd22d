import { Problem } from '../errors.ts'
import { openLimits } from '../gateway-limits.ts'

interface Limits {
  readonly bytesMax: number
  readonly loadingMax: number
}

const defaultLimits: Limits = { bytesMax: openLimits.unsentBytes.max, loadingMax: openLimits.loadingEvents.max }

/**
 * The bytes that were written for each key and that its clients have not read, on this gateway. Answers above the limit are
 * refused; streams wait until they may load their next event.
 */
export class Unsent {
  readonly #limits: Limits
  readonly #keys = new Map<string, Account>()

  constructor(limits: Limits = defaultLimits) {
    this.#limits = limits
  }

  /** Errors: `limit-exceeded` when the key has too many unread bytes, or would have with an answer of this size. */
  requireRoom(keyId: string, bytes = 0): void {
    const unsent = this.#keys.get(keyId)?.bytes ?? 0
    const { bytesMax } = this.#limits
    // Without unread bytes one answer of any size is allowed: waiting would not help.
    if (unsent === 0 || unsent + bytes < bytesMax) return
    throw new Problem('limit-exceeded', {
      detail: `This key has ${unsent} bytes of answers that it has not read; ${bytesMax} is the limit (unsentBytes). Read or close the open answers.${bytes === 0 ? '' : ` The request was carried out; only its answer of ${bytes} bytes is not sent.`}`,
      extra: { limit: 'unsentBytes', max: bytesMax, retryAfterSeconds: 1 },
    })
  }

  /** Counts unread bytes. The returned function ends that; a second call changes nothing. */
  add(keyId: string, bytes: number): () => void {
    const account = this.#account(keyId)
    account.bytes += bytes
    return once(() => {
      account.bytes -= bytes
      this.#letIn(keyId, account)
    })
  }

  /**
   * Waits until one more event of a stream may be loaded, or until the signal aborts. Call the returned function when the event
   * was written, or is not sent.
   */
  async load(keyId: string, signal: AbortSignal): Promise<() => void> {
    const account = this.#account(keyId)
    if (account.waiting.length > 0 || !this.#hasRoom(account)) await this.#wait(account, signal)
    else account.loading += 1
    return once(() => {
      account.loading -= 1
      this.#letIn(keyId, account)
    })
  }

  /** Whether a key has as many unread bytes as it may. */
  isFull(keyId: string): boolean {
    return this.bytesOf(keyId) >= this.#limits.bytesMax
  }

  /** The unread bytes of a key. */
  bytesOf(keyId: string): number {
    return this.#keys.get(keyId)?.bytes ?? 0
  }

  #account(keyId: string): Account {
    const known = this.#keys.get(keyId)
    if (known) return known
    const account: Account = { bytes: 0, loading: 0, waiting: [] }
    this.#keys.set(keyId, account)
    return account
  }

  #hasRoom({ bytes, loading }: Account): boolean {
    return bytes < this.#limits.bytesMax && loading < this.#limits.loadingMax
  }

  /** A wait that was aborted gets a place too, and frees it at once. */
  async #wait(account: Account, signal: AbortSignal): Promise<void> {
    if (signal.aborted) {
      account.loading += 1
      return
    }
    let enter = () => {}
    const entered = new Promise<void>((resolve) => {
      enter = resolve
    })
    const leave = (): void => {
      const at = account.waiting.indexOf(enter)
      if (at < 0) return
      account.waiting.splice(at, 1)
      account.loading += 1
      enter()
    }
    account.waiting.push(enter)
    signal.addEventListener('abort', leave, { once: true })
    await entered
    signal.removeEventListener('abort', leave)
  }

  #letIn(keyId: string, account: Account): void {
    while (account.waiting.length > 0 && this.#hasRoom(account)) {
      account.loading += 1
      account.waiting.shift()?.()
    }
    const isIdle = account.bytes === 0 && account.loading === 0 && account.waiting.length === 0
    if (isIdle && this.#keys.get(keyId) === account) this.#keys.delete(keyId)
  }
}

interface Account {
  bytes: number
  loading: number
  readonly waiting: (() => void)[]
}

function once(act: () => void): () => void {
  let isDone = false
  return () => {
    if (isDone) return
    isDone = true
    act()
  }
}
