import { companyLimits, openLimits } from '../../gateway-limits.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Bulk } from './large-spacing.ts'

/** A request that waits until it may read more content. */
interface Waiter {
  readonly request: Bulk
  readonly bytes: number
  readonly decide: (mayRead: boolean) => void
}

/** The content that one caller is reading. */
interface Account {
  bytes: number
  /** Requests that have read content, and their answers are not over. */
  readonly holders: Set<Bulk>
  /** Those that have read content already come first: only then can they end. */
  readonly waiting: Waiter[]
}

/**
 * Bounds the content that each caller has read and answered at the same time. Content in memory takes several times its size until its
 * answer is sent. Further requests wait in their order. A single request may always go on, whatever its size.
 */
export class ContentAtOnce {
  readonly #clock: Clock
  readonly #max: number
  readonly #accounts = new Map<string, Account>()

  constructor(clock: Clock, max: number = openLimits.contentAtOnce.max) {
    this.#clock = clock
    this.#max = max
  }

  /** Counts content until `free`, if the request may read it without a wait. */
  takeNow(callerId: string, request: Bulk, bytes: number): boolean {
    if (request.gone().aborted) return false
    const account = this.#accountOf(callerId)
    if (account.waiting.length > 0 || !this.#hasRoom(account, { request, bytes })) return false
    this.#begin(account, { request, bytes })
    return true
  }

  /**
   * Waits until a request may read content, and counts it until `free`.
   * @returns false if that would take too long, or the client has gone away
   */
  async take(callerId: string, request: Bulk, bytes: number): Promise<boolean> {
    const gone = request.gone()
    if (gone.aborted) return false
    if (this.takeNow(callerId, request, bytes)) return true
    return this.#wait(callerId, this.#accountOf(callerId), { request, bytes, gone })
  }

  /** Ends what a request has read: its answer is over. */
  free(callerId: string, request: Bulk): void {
    if (request.held === 0) return
    const account = this.#accountOf(callerId)
    account.bytes -= request.held
    request.held = 0
    account.holders.delete(request)
    this.#letIn(callerId, account)
  }

  /** The content that a caller is reading now, in bytes. */
  bytesOf(callerId: string): number {
    return this.#accounts.get(callerId)?.bytes ?? 0
  }

  #accountOf(callerId: string): Account {
    const known = this.#accounts.get(callerId)
    if (known) return known
    const account: Account = { bytes: 0, holders: new Set(), waiting: [] }
    this.#accounts.set(callerId, account)
    return account
  }

  #hasRoom({ bytes: held, holders, waiting }: Account, { request, bytes }: Pick<Waiter, 'request' | 'bytes'>): boolean {
    if (held + bytes <= this.#max) return true
    // If all who have read something wait for more, none of them would end.
    const waits = new Set(waiting.map((one) => one.request)).add(request)
    return (held === 0 || request.held > 0) && [...holders].every((holder) => waits.has(holder))
  }

  #begin(account: Account, { request, bytes }: Pick<Waiter, 'request' | 'bytes'>): void {
    account.bytes += bytes
    account.holders.add(request)
    request.held += bytes
  }

  async #wait(
    callerId: string,
    account: Account,
    { gone, ...wanted }: Pick<Waiter, 'request' | 'bytes'> & { readonly gone: AbortSignal },
  ): Promise<boolean> {
    const { waiting } = account
    let giveUp = (): void => {}
    const decided = new Promise<boolean>((resolve) => {
      const waiter = { ...wanted, decide: resolve }
      const newcomers = waiting.findIndex(({ request }) => request.held === 0)
      waiting.splice(wanted.request.held > 0 && newcomers >= 0 ? newcomers : waiting.length, 0, waiter)
      giveUp = () => {
        const at = waiting.indexOf(waiter)
        if (at < 0) return
        waiting.splice(at, 1)
        resolve(false)
        this.#letIn(callerId, account)
      }
    })
    const cancel = this.#clock.after(companyLimits.largeWait.max * 1_000, giveUp)
    gone.addEventListener('abort', giveUp, { once: true })
    this.#letIn(callerId, account)
    const mayRead = await decided
    cancel()
    gone.removeEventListener('abort', giveUp)
    return mayRead
  }

  #letIn(callerId: string, account: Account): void {
    for (let next = account.waiting[0]; next && this.#hasRoom(account, next); next = account.waiting[0]) {
      account.waiting.shift()
      this.#begin(account, next)
      next.decide(true)
    }
    const isIdle = account.holders.size === 0 && account.waiting.length === 0
    if (isIdle && this.#accounts.get(callerId) === account) this.#accounts.delete(callerId)
  }
}
