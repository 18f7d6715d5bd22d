import { Problem } from '../errors.ts'
import { openLimits } from '../gateway-limits.ts'
import type { Caller } from '../registry/callers/caller.ts'

interface Limits {
  readonly bytesMax: number
  readonly loadingMax: number
}

const defaultLimits: Limits = { bytesMax: openLimits.unsentBytes.max, loadingMax: openLimits.loadingEvents.max }

/** Who reads answers: a key of an agent, or who is counted alone: a key of an operator, an address. */
export interface AnswerReader {
  readonly keyId: string
  readonly agentId?: string
}

/** All operators have the same id, but each key is a separate caller. */
export function readerOf({ kind, id, keyId }: Pick<Caller, 'kind' | 'id' | 'keyId'>): AnswerReader {
  return kind === 'agent' ? { keyId, agentId: id } : { keyId }
}

/**
 * The bytes that were written for each agent and that its clients have not read, on this gateway. Answers above the limit are
 * refused; streams wait until they may load their next event. One key may have half of what its agent may have.
 */
export class Unsent {
  readonly #limits: Limits
  readonly #accounts = new Map<string, Account>()

  constructor(limits: Limits = defaultLimits) {
    this.#limits = limits
  }

  /** Errors: `limit-exceeded` when the key or its agent has too many unread bytes, or would have with an answer of this size. */
  requireRoom(reader: AnswerReader, bytes = 0): void {
    for (const { id, whose, bytesMax } of this.#sharesOf(reader)) {
      const unsent = this.bytesOf(id)
      // Without unread bytes one answer of any size is allowed: waiting would not help.
      if (unsent === 0 || unsent + bytes < bytesMax) continue
      throw new Problem('limit-exceeded', {
        detail: `This ${whose} has ${unsent} bytes of answers that it has not read; ${bytesMax} is the limit (unsentBytes). Read or close the open answers.${bytes === 0 ? '' : ` The request was carried out; only its answer of ${bytes} bytes is not sent.`}`,
        extra: { limit: 'unsentBytes', max: bytesMax, retryAfterSeconds: 1 },
      })
    }
  }

  /** Counts unread bytes. The returned function ends that; a second call changes nothing. */
  add(reader: AnswerReader, bytes: number): () => void {
    const accounts = this.#accountsOf(reader)
    for (const account of accounts) account.bytes += bytes
    return once(() => {
      for (const account of accounts) account.bytes -= bytes
      this.#letIn(accounts)
    })
  }

  /**
   * Waits until one more event of a stream may be loaded, or until the signal aborts. Call the returned function when the event
   * was written, or is not sent.
   */
  async load(reader: AnswerReader, signal: AbortSignal): Promise<() => void> {
    const accounts = this.#accountsOf(reader)
    // Whoever waits for this key waits because there is no room.
    if (hasRoom(accounts)) begin(accounts)
    else await this.#wait(accounts, signal)
    return once(() => {
      for (const account of accounts) account.loading -= 1
      this.#letIn(accounts)
    })
  }

  /** Whether a key or its agent has as many unread bytes as it may. */
  isFull(reader: AnswerReader): boolean {
    return this.#sharesOf(reader).some(({ id, bytesMax }) => this.bytesOf(id) >= bytesMax)
  }

  /** The unread bytes of a key or an agent. */
  bytesOf(id: string): number {
    return this.#accounts.get(id)?.bytes ?? 0
  }

  #sharesOf({ keyId, agentId }: AnswerReader): Share[] {
    const { bytesMax, loadingMax } = this.#limits
    if (agentId === undefined) return [{ id: keyId, whose: 'key', bytesMax, loadingMax }]
    const half = { bytesMax: Math.ceil(bytesMax / 2), loadingMax: Math.ceil(loadingMax / 2) }
    return [
      { id: keyId, whose: 'key', ...half },
      { id: agentId, whose: 'agent', bytesMax, loadingMax },
    ]
  }

  /** The last one is the account of the agent, if there is one: in it all of its keys wait. */
  #accountsOf(reader: AnswerReader): readonly Account[] {
    return this.#sharesOf(reader).map((share) => {
      const known = this.#accounts.get(share.id)
      if (known) return known
      const account: Account = { bytes: 0, loading: 0, waiting: [], ...share }
      this.#accounts.set(share.id, account)
      return account
    })
  }

  /** A wait that was aborted gets a place too, and frees it at once. */
  async #wait(accounts: readonly Account[], signal: AbortSignal): Promise<void> {
    if (signal.aborted) return begin(accounts)
    let enter = () => {}
    const entered = new Promise<void>((resolve) => {
      enter = resolve
    })
    const waiter = { accounts, enter }
    const leave = (): void => {
      if (accounts.at(-1)!.waiting.includes(waiter)) letIn(waiter)
    }
    for (const { waiting } of accounts) waiting.push(waiter)
    signal.addEventListener('abort', leave, { once: true })
    await entered
    signal.removeEventListener('abort', leave)
  }

  /** Those of one key go in in their order. A key without room does not hold up the other keys of its agent. */
  #letIn(accounts: readonly Account[]): void {
    const { waiting } = accounts.at(-1)!
    for (let at = 0; at < waiting.length && hasRoom(accounts.slice(-1)); ) {
      if (hasRoom(waiting[at]!.accounts)) letIn(waiting[at]!)
      else at += 1
    }
    for (const account of accounts) {
      const isIdle = account.bytes === 0 && account.loading === 0 && account.waiting.length === 0
      if (isIdle && this.#accounts.get(account.id) === account) this.#accounts.delete(account.id)
    }
  }
}

/** What a key or an agent may have. */
interface Share extends Limits {
  readonly id: string
  readonly whose: 'key' | 'agent'
}

interface Waiter {
  readonly accounts: readonly Account[]
  readonly enter: () => void
}

interface Account extends Share {
  bytes: number
  loading: number
  readonly waiting: Waiter[]
}

function hasRoom(accounts: readonly Account[]): boolean {
  return accounts.every(({ bytes, bytesMax, loading, loadingMax }) => bytes < bytesMax && loading < loadingMax)
}

function begin(accounts: readonly Account[]): void {
  for (const account of accounts) account.loading += 1
}

function letIn(waiter: Waiter): void {
  for (const { waiting } of waiter.accounts) waiting.splice(waiting.indexOf(waiter), 1)
  begin(waiter.accounts)
  waiter.enter()
}

function once(act: () => void): () => void {
  let isDone = false
  return () => {
    if (isDone) return
    isDone = true
    act()
  }
}
