import { Problem } from '../errors.ts'
import { projectLimits } from '../limits.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { limitFor } from '../registry/callers/caller-limits.ts'
import { counterOf } from './counter.ts'

/** Stream events, and answers of calls that have waited, of one reader that are loaded at a time. */
const loadingMax = 4

/** A reader of answers: an agent with all of its keys, a key of an operator, or the address of a client without a key. */
export type AnswerReader = Pick<Caller, 'kind' | 'id' | 'keyId' | 'limits'> | { readonly address: string }

interface Account {
  bytes: number
  loading: number
  readonly waiting: (() => void)[]
}

/**
 * The bytes that were written for each reader and that its clients have not read, on this gateway. Beyond the limit requests are refused,
 * and streams wait until they may load their next event.
 */
export class UnreadAnswers {
  readonly #max: number | undefined
  readonly #accounts = new Map<string, Account>()

  /** @param max instead of the limit of each reader's project */
  constructor(max?: number) {
    this.#max = max
  }

  /** Errors: `limit-exceeded` when the reader has too many unread bytes, or would have with an answer of this size. */
  requireRoom(reader: AnswerReader, bytes = 0): void {
    const max = this.#maxOf(reader)
    const unread = this.bytesOf(reader)
    // Without unread bytes one answer of any size is allowed: waiting would not help.
    if (unread === 0 || max === 0 || unread + bytes < max) return
    throw new Problem('limit-exceeded', {
      detail: `${unread} bytes of answers are not read yet; ${max} is the limit (unreadBytes). Read or close the open answers.${bytes === 0 ? '' : ` The request was carried out; only its answer of ${bytes} bytes is not sent.`}`,
      extra: { limit: 'unreadBytes', max, retryAfterSeconds: 1 },
    })
  }

  /** Counts unread bytes. The returned function ends that; a second call changes nothing. */
  add(reader: AnswerReader, bytes: number): () => void {
    const account = this.#accountOf(reader)
    account.bytes += bytes
    return once(() => {
      account.bytes -= bytes
      this.#letIn(reader, account)
    })
  }

  /**
   * Waits until one more event of a stream, or the answer of a call that has waited, may be loaded, or until the signal aborts. Call the
   * returned function when it was written, or is not sent.
   */
  async load(reader: AnswerReader, signal?: AbortSignal): Promise<() => void> {
    const account = this.#accountOf(reader)
    if (account.waiting.length === 0 && this.#mayLoad(reader, account)) account.loading += 1
    else await wait(account, signal)
    return once(() => {
      account.loading -= 1
      this.#letIn(reader, account)
    })
  }

  /** True when a reader has as many unread bytes as it may. */
  isFull(reader: AnswerReader): boolean {
    const max = this.#maxOf(reader)
    return max > 0 && this.bytesOf(reader) >= max
  }

  /** The unread bytes of a reader. */
  bytesOf(reader: AnswerReader): number {
    return this.#accounts.get(nameOf(reader))?.bytes ?? 0
  }

  #maxOf(reader: AnswerReader): number {
    if (this.#max !== undefined) return this.#max
    return 'keyId' in reader ? limitFor(reader, 'unreadBytes') : projectLimits.unreadBytes.max
  }

  #mayLoad(reader: AnswerReader, { bytes, loading }: Account): boolean {
    const max = this.#maxOf(reader)
    return loading < loadingMax && (max === 0 || bytes < max)
  }

  #accountOf(reader: AnswerReader): Account {
    const name = nameOf(reader)
    const known = this.#accounts.get(name)
    if (known) return known
    const account: Account = { bytes: 0, loading: 0, waiting: [] }
    this.#accounts.set(name, account)
    return account
  }

  #letIn(reader: AnswerReader, account: Account): void {
    while (account.waiting.length > 0 && this.#mayLoad(reader, account)) account.waiting.shift()!()
    const isIdle = account.bytes === 0 && account.loading === 0 && account.waiting.length === 0
    if (isIdle && this.#accounts.get(nameOf(reader)) === account) this.#accounts.delete(nameOf(reader))
  }
}

const nameOf = (reader: AnswerReader): string => ('keyId' in reader ? counterOf(reader) : `address ${reader.address}`)

/** Resolves when the event counts as loading: when there is room, or the signal aborts. Then the stream is over and loads nothing. */
function wait(account: Account, signal?: AbortSignal): Promise<void> {
  const { waiting } = account
  return new Promise((resolve) => {
    const enter = (): void => {
      account.loading += 1
      signal?.removeEventListener('abort', leave)
      resolve()
    }
    const leave = (): void => {
      const at = waiting.indexOf(enter)
      if (at >= 0) waiting.splice(at, 1)
      enter()
    }
    if (signal?.aborted) return enter()
    waiting.push(enter)
    signal?.addEventListener('abort', leave, { once: true })
  })
}

function once(act: () => void): () => void {
  let isDone = false
  return () => {
    if (isDone) return
    isDone = true
    act()
  }
}
