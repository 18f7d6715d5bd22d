import { Problem } from '../errors.ts'
import { openLimits } from '../limits.ts'

interface Limits {
  readonly bytesMax: number
  readonly loadingMax: number
}

const defaultLimits: Limits = { bytesMax: openLimits.unsentBytes.max, loadingMax: openLimits.loadingEvents.max }

/**
 * What was written for each key and has not been taken by its readers, on this gateway. Answers beyond the limit are refused;
 * streams wait, and load their next event when there is room for it.
 */
export class Unsent {
  readonly #limits: Limits
  readonly #keys = new Map<string, Account>()

  constructor(limits: Limits = defaultLimits) {
    this.#limits = limits
  }

  /** Errors: `limit-exceeded` when the key's readers have left too much, or would with an answer of so many bytes. */
  requireRoom(keyId: string, bytes = 0): void {
    const unsent = this.#keys.get(keyId)?.bytes ?? 0
    const { bytesMax } = this.#limits
    // One answer is let through whatever its size: there is nothing to wait for.
    if (unsent === 0 || unsent + bytes < bytesMax) return
    throw new Problem('limit-exceeded', {
      detail: `This key has ${unsent} bytes of answers that it has not read; ${bytesMax} is the limit (unsentBytes). Read or close the open answers.${bytes === 0 ? '' : ` The request was carried out; only its answer of ${bytes} bytes is not sent.`}`,
      extra: { limit: 'unsentBytes', max: bytesMax, retryAfterSeconds: 1 },
    })
  }

  /** Notes bytes that wait for their reader. The returned function notes that they are gone; twice is the same as once. */
  add(keyId: string, bytes: number): () => void {
    const account = this.#account(keyId)
    account.bytes += bytes
    return once(() => {
      account.bytes -= bytes
      this.#letIn(keyId, account)
    })
  }

  /**
   * Waits until there is room to load one more event of a stream, or until the signal aborts. The returned function notes that it
   * is loaded, and written or given up.
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

  /** The bytes that wait for the readers of a key. */
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

  /** Whoever gives up is let in too: it gives its place back at once. */
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
