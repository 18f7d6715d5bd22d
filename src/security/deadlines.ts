import { OutboundError } from './outbound-error.ts'

/** A request in flight. */
export interface RequestInFlight {
  readonly timeoutMs: number
  /** The wish of its caller to stop: then it has `graceMs` more. */
  readonly signal?: AbortSignal | undefined
  readonly graceMs?: number | undefined
  /** When its status came, by `performance.now()`. The body has `bodyMs` more. */
  readonly answeredAt: number | undefined
  /** Called when its time is over, once. */
  fail(reason: OutboundError): void
}

interface Until {
  at: number
  isStopping: boolean
}

/** How late a deadline may pass. */
const tickMs = 20
/** The time of a body after its status, which alone decides. */
const bodyMs = 2_000

/**
 * Watches over requests: each has `timeoutMs` from its start, `bodyMs` from its status, or `graceMs` after its caller wishes to stop. Bytes that arrive slowly
 * do not extend that. One timer looks at all of them every few milliseconds, while there are any: a timer and a listener for
 * each request would cost as much as signing its body.
 */
export class Deadlines {
  readonly #watched = new Map<RequestInFlight, Until>()
  #timer: NodeJS.Timeout | undefined

  /** `now`: by `performance.now()`. */
  watch(watched: RequestInFlight, now: number): void {
    this.#watched.set(watched, { at: now + watched.timeoutMs, isStopping: false })
    this.#timer ??= setInterval(() => this.#look(), tickMs).unref()
  }

  forget(watched: RequestInFlight): void {
    this.#watched.delete(watched)
  }

  #look(): void {
    if (this.#watched.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
      return
    }
    const now = performance.now()
    for (const [watched, until] of this.#watched) {
      if (watched.signal?.aborted && !until.isStopping) stopSoon(watched, until, now)
      if (now < Math.min(until.at, (watched.answeredAt ?? now) + bodyMs)) continue
      this.#watched.delete(watched)
      watched.fail(reasonOf(watched, until))
    }
  }
}

function stopSoon({ graceMs = 0 }: RequestInFlight, until: Until, now: number): void {
  until.isStopping = true
  until.at = Math.min(until.at, now + graceMs)
}

function reasonOf({ timeoutMs, answeredAt }: RequestInFlight, { isStopping }: Until): OutboundError {
  if (answeredAt !== undefined) return new OutboundError('timeout', 'the body of the answer did not end, and was cut')
  return isStopping
    ? new OutboundError('aborted', 'the request was stopped')
    : new OutboundError('timeout', `no complete answer in ${timeoutMs} ms`)
}
