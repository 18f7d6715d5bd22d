import { Problem, toProblem } from '../errors.ts'
import { type Clock, sleep } from '../lib/clock.ts'
import { gatewayLimits } from '../limits.ts'
import type { Logger } from '../logger/logger.ts'
import type { ClientAddress } from '../security/client-address.ts'
import { networkOf } from '../security/ip-address.ts'

/** The origin of a request: the other end of the connection, and what proxies report. */
interface Origin {
  readonly remote: string | undefined
  readonly forwardedFor: string | undefined
}

interface Tries {
  readonly since: number
  count: number
}

const minuteMs = 60_000
/** Addresses whose wrong keys are counted; the oldest are forgotten first. */
const addressesMax = 10_000
/** How late a refusal beyond the limit is sent, in ms. */
const lateMs = 1_000

/** Counts wrong keys for each address. Requests with a valid key are never counted. */
export class WrongKeys {
  readonly #clock: Clock
  readonly #log: Pick<Logger, 'warn'>
  readonly #clientAddress: ClientAddress
  readonly #max: number
  readonly #tries = new Map<string, Tries>()

  /** `max`: how many wrong keys an address may send within a minute; 0 is no limit. */
  constructor(
    { clock, log }: { clock: Clock; log: Pick<Logger, 'warn'> },
    clientAddress: ClientAddress,
    max: number = gatewayLimits.wrongKeys.max,
  ) {
    this.#max = max || Number.POSITIVE_INFINITY
    this.#clientAddress = clientAddress
    this.#clock = clock
    this.#log = log
  }

  /**
   * Returns the error to answer: the given one, or `rate-limited` if it is about a wrong key and its address has sent too many within
   * a minute: then it takes a second, so that guessing is slow. The log gets the first wrong key of an address in a minute, and the first one above the limit.
   */
  async judge(error: unknown, from: Origin, key: string | undefined): Promise<unknown> {
    if (key === undefined || toProblem(error).code !== 'unauthenticated') return error
    const network = networkOf(this.#clientAddress(from.remote, from.forwardedFor))
    const now = this.#clock.now()
    const tries = this.#triesOf(network, now)
    tries.count++
    const max = this.#max
    if (tries.count === 1) this.#log.warn({ address: network }, 'auth.failed')
    if (tries.count === max + 1) this.#log.warn({ address: network, tries: tries.count }, 'auth.throttled')
    if (tries.count <= max) return error
    await sleep(this.#clock, lateMs)
    return new Problem('rate-limited', {
      detail: `This address has sent more than ${max} wrong keys within a minute. Send a valid key, or wait a minute.`,
      extra: {
        limit: max,
        limitName: 'wrongKeys',
        retryAfterSeconds: Math.max(1, Math.ceil((tries.since + minuteMs - now) / 1000)),
      },
    })
  }

  #triesOf(from: string, now: number): Tries {
    const known = this.#tries.get(from)
    if (known && now - known.since < minuteMs) return known
    // A Map keeps the order of insertion: the oldest are first.
    this.#tries.delete(from)
    if (this.#tries.size >= addressesMax) this.#tries.delete(this.#tries.keys().next().value!)
    const tries = { since: now, count: 0 }
    this.#tries.set(from, tries)
    return tries
  }
}
