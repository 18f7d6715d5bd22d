import { Problem } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { type Bucket, TokenBuckets } from '../lib/token-buckets.ts'
import { gatewayLimits, type LimitName, MiB, projectFactor, projectLimits } from '../limits.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { limitFor } from '../registry/callers/caller-limits.ts'

const windowsMs = { 'a minute': 60_000, 'an hour': 3_600_000, 'a day': 86_400_000 } as const

/** The limits that are rates. */
export type RateName = {
  [Name in LimitName]: (typeof projectLimits)[Name]['unit'] extends keyof typeof windowsMs ? Name : never
}[LimitName]

/** The part of a rate that may be used at once, where it is not the whole. */
const atOnce: { readonly [Name in RateName]?: number } = {
  requestsPerMinute: 200,
  megabytesPerMinute: 16,
  changesPerDay: 5_000,
}
/** The share of an agent's requests that one key may use, so that a stolen key cannot use them all. */
const keysFactor = 1.5
const revocations: Bucket = { size: gatewayLimits.revocationsPerMinute.max, windowMs: 60_000 }

/** A rate, and a kind of acts that has the whole of it. */
interface Rate {
  readonly name: RateName
  readonly kind: string
}

/** One bucket that an act takes from. */
interface ChargedBucket {
  readonly key: string
  readonly bucket: Bucket
  readonly whose: 'key' | 'agent' | 'project'
  /** The limit as it is for this bucket. */
  readonly max: number
}

/** Token buckets of each key, agent, project and operator key, in memory. */
export class Rates {
  readonly #clock: Clock
  readonly #buckets = new TokenBuckets()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Counts requests of a key, its agent and its project, all or none. Errors: `rate-limited`. */
  spendRequests(caller: Caller, count: number): void {
    const now = this.#clock.now()
    for (const counted of countedBy(caller, { name: 'megabytesPerMinute', kind: '' })) {
      this.#require(caller, 'megabytesPerMinute', counted, now, 0)
    }
    const rate: Rate = { name: 'requestsPerMinute', kind: '' }
    this.#spend(caller, rate.name, countedBy(caller, rate), count)
  }

  /** Counts acts of an agent, all or none. Errors: `rate-limited`. */
  spend(caller: Caller, rate: Rate, count: number): void {
    // The first request was charged before: the room that is left is smaller by that.
    const before = rate.name === 'requestsPerMinute' ? 1 : 0
    if (caller.kind === 'agent') this.#spend(caller, rate.name, countedBy(caller, rate), count, before)
  }

  /** Errors: `rate-limited` where nothing is left. */
  requireLeft(caller: Caller, rate: Rate): void {
    if (caller.kind !== 'agent') return
    const now = this.#clock.now()
    for (const counted of countedBy(caller, rate)) this.#require(caller, rate.name, counted, now, 1)
  }

  /** Counts what was done. */
  charge(caller: Caller, rate: Rate, count: number): void {
    if (caller.kind !== 'agent') return
    const now = this.#clock.now()
    for (const { key, bucket } of countedBy(caller, rate)) this.#buckets.take(key, bucket, now, count)
  }

  chargeBytes(caller: Caller, bytes: number): void {
    const now = this.#clock.now()
    for (const { key, bucket } of countedBy(caller, { name: 'megabytesPerMinute', kind: '' })) {
      this.#buckets.take(key, bucket, now, bytes / MiB)
    }
  }

  /** Takes one of the requests that each key of an agent has for ending the use of keys. Returns whether there was one. */
  takeRevocation({ kind, keyId }: Caller): boolean {
    return kind === 'agent' && this.#buckets.spend(`revocations ${keyId}`, revocations, this.#clock.now()) === 0
  }

  #spend(caller: Caller, name: RateName, all: readonly ChargedBucket[], count: number, before = 0): void {
    const now = this.#clock.now()
    for (const counted of all) this.#require(caller, name, counted, now, count, before)
    for (const { key, bucket } of all) this.#buckets.take(key, bucket, now, Math.min(count, bucket.size - before))
  }

  #require(caller: Caller, name: RateName, counted: ChargedBucket, now: number, count: number, before = 0): void {
    const { key, bucket } = counted
    if (this.#buckets.waitMs(key, bucket, now, Math.min(count, bucket.size - before)) === 0) return
    throw usedUp(caller, name, counted, this.#buckets.waitMs(key, bucket, now, count + before))
  }
}

/** The buckets of an agent and its project, and for requests that of the key. A key of an operator may do as much as a project. */
function countedBy(caller: Caller, { name, kind }: Rate): ChargedBucket[] {
  const max = limitFor(caller, name)
  if (max === 0) return []
  const { id, keyId, projectId } = caller
  const ofAgent = name === 'requestsPerMinute' ? keysFactor * max : max
  const ofProject = { max: max * projectFactor, bucket: bucketOf(name, max, projectFactor) }
  if (caller.kind === 'operator') return [{ key: `${name} ${keyId}`, whose: 'key', ...ofProject }]
  return [
    ...(name === 'requestsPerMinute'
      ? [{ key: `requests ${keyId}`, whose: 'key' as const, max, bucket: bucketOf(name, max, 1) }]
      : []),
    { key: `${name}${kind} ${id}`, whose: 'agent', max: ofAgent, bucket: bucketOf(name, ofAgent, 1) },
    { key: `${name}${kind} project ${projectId}`, whose: 'project', ...ofProject },
  ]
}

function bucketOf(name: RateName, max: number, factor: number): Bucket {
  const size = Math.min(max, atOnce[name] ?? max)
  const windowMs = (windowsMs[projectLimits[name].unit] * size) / max
  return { size: Math.max(1, size * factor), windowMs }
}

function usedUp(caller: Caller, name: RateName, { whose, max }: ChargedBucket, waitMs: number): Problem {
  const { unit, what } = projectLimits[name]
  const who = { key: `This key of ${caller.identity}`, agent: caller.identity, project: `Project ${caller.projectId}` }
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1_000))
  return new Problem('rate-limited', {
    detail: `${who[whose]} has used up ${name}: ${max} ${unit} (${what}). Wait ${retryAfterSeconds} s.`,
    remedy: 'raise-rate',
    extra: { limit: max, limitName: name, retryAfterSeconds },
  })
}
