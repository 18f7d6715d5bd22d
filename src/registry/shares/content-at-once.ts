import { companyLimits } from '../../gateway-limits.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Bulk } from './large-spacing.ts'

/** A request that waits until it may have more content in memory. */
interface Waiter {
  readonly request: Bulk
  readonly bytes: number
  readonly decide: (hasRoom: boolean) => void
}

/** The content that one caller has in memory. */
interface Account {
  bytes: number
  /** Requests that have content in memory, with its bytes. */
  readonly holders: Map<Bulk, number>
  /** Those that have some already come first: only then can they end. */
  readonly waiting: Waiter[]
}

/**
 * Bounds the content that each caller has in memory at the same time: bodies, or what is read for answers. It takes several times its size
 * until the answer is sent. Further requests wait in their order. A single request may always go on, whatever its size.
 */
export class ContentAtOnce {
  readonly #clock: Clock
  readonly #max: number
  readonly #accounts = new Map<string, Account>()

  constructor(clock: Clock, max: number) {
    this.#clock = clock
    this.#max = max
  }

  /** Counts content until `free`, if there is room for it without a wait. */
  takeNow(callerId: string, request: Bulk, bytes: number): boolean {
    if (request.gone().aborted) return false
    const account = this.#accountOf(callerId)
    if (account.waiting.length > 0 || !this.#hasRoom(account, { request, bytes })) return false
    this.#begin(account, { request, bytes })
    return true
  }

  /**
   * Waits until there is room for content of a request, and counts it until `free`.
   * @returns false if that would take too long, or the client has gone away
   */
  async take(callerId: string, request: Bulk, bytes: number): Promise<boolean> {
    const gone = request.gone()
    if (gone.aborted) return false
    if (this.takeNow(callerId, request, bytes)) return true
    return this.#wait(callerId, this.#accountOf(callerId), { request, bytes, gone })
  }

  /** Counts fewer bytes for a request than it has taken: it turned out to be smaller. */
  keepOnly(callerId: string, request: Bulk, bytes: number): void {
    const account = this.#accounts.get(callerId)
    const held = account?.holders.get(request)
    if (!account || held === undefined || held <= bytes) return
    account.bytes -= held - bytes
    if (bytes > 0) account.holders.set(request, bytes)
    else account.holders.delete(request)
    this.#letIn(callerId, account)
  }

  /** Ends what a request has in memory: its answer is over. */
  free(callerId: string, request: Bulk): void {
    this.keepOnly(callerId, request, 0)
  }

  /** The content that a caller has in memory now, in bytes. */
  bytesOf(callerId: string): number {
    return this.#accounts.get(callerId)?.bytes ?? 0
  }

  #accountOf(callerId: string): Account {
    const known = this.#accounts.get(callerId)
    if (known) return known
    const account: Account = { bytes: 0, holders: new Map(), waiting: [] }
    this.#accounts.set(callerId, account)
    return account
  }

  #hasRoom({ bytes: held, holders, waiting }: Account, { request, bytes }: Pick<Waiter, 'request' | 'bytes'>): boolean {
    if (held + bytes <= this.#max) return true
    // If all who have some wait for more, none of them would end.
    const waits = new Set(waiting.map((one) => one.request)).add(request)
    return (held === 0 || holders.has(request)) && [...holders.keys()].every((holder) => waits.has(holder))
  }

  #begin(account: Account, { request, bytes }: Pick<Waiter, 'request' | 'bytes'>): void {
    account.bytes += bytes
    account.holders.set(request, (account.holders.get(request) ?? 0) + bytes)
  }

  async #wait(
    callerId: string,
    account: Account,
    { gone, ...wanted }: Pick<Waiter, 'request' | 'bytes'> & { readonly gone: AbortSignal },
  ): Promise<boolean> {
    const { waiting } = account
    let giveUp = (): void => {}
    const decided = new Promise<boolean>((resolve) => {
      const waiter = { decide: resolve, ...wanted }
      const newcomers = waiting.findIndex(({ request }) => !account.holders.has(request))
      waiting.splice(account.holders.has(wanted.request) && newcomers >= 0 ? newcomers : waiting.length, 0, waiter)
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
    const hasRoom = await decided
    cancel()
    gone.removeEventListener('abort', giveUp)
    return hasRoom
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
