import type { LookupAddress } from 'node:dns'
import { setMaxListeners } from 'node:events'
import { FairGate, promptMs } from '../lib/fair-gate.ts'
import type { Payer } from '../lib/fair-places.ts'
import { within } from '../lib/within.ts'
import { HostsFile } from './hosts-file.ts'
import { type AskName, createAskName } from './name-servers.ts'
import { NameError, OutboundError } from './outbound-error.ts'
import { outboundLimits } from './outbound-limits.ts'
import { isLocalhost } from './url-guard.ts'

export interface NameResolverOptions {
  /** In place of the machine's name servers. */
  ask?: AskName
  hosts?: HostsFile
  /** Milliseconds from any zero. */
  now?: () => number
  lookupWaitMs?: number
}

type Addresses = readonly LookupAddress[]

interface CachedAnswer {
  readonly answer: Addresses | OutboundError
  readonly until: number
}

const {
  lookups,
  lookupsOfProject,
  lookupsOfAgent,
  lookupsOfSlowAgent,
  lookupWait,
  namesKept,
  nameKeptFor: keptFor,
} = outboundLimits
/** Time after which a name that did not resolve is looked up again. */
const failureKeptMs = 1_000
/** The shortest time for which an answer is cached: enough to open the connection that needs it. */
const keptMinMs = 1_000
const loopback: Addresses = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/**
 * Resolves names: `localhost`, the hosts file, cached answers, then the name servers. One query per name at a time; the queries of
 * one agent or project leave room for the others. It does not check addresses: the code that dials them does.
 */
export class NameResolver {
  readonly #ask: AskName
  readonly #hosts: HostsFile
  readonly #now: () => number
  readonly #lookupWaitMs: number
  readonly #kept = new Map<string, CachedAnswer>()
  readonly #closing = new AbortController()
  readonly #asking = new Map<string, Promise<Addresses | OutboundError>>()
  readonly #gate = new FairGate({
    usual: {
      total: lookups.max,
      project: lookupsOfProject.max,
      agent: lookupsOfAgent.max,
      target: 1,
      agentTarget: 1,
    },
    slow: {
      total: lookups.max / 4,
      project: lookupsOfProject.max / 4,
      agent: lookupsOfSlowAgent.max,
      target: 1,
      agentTarget: 1,
    },
  })

  constructor(options: NameResolverOptions = {}) {
    this.#ask = options.ask ?? createAskName()
    this.#hosts = options.hosts ?? new HostsFile()
    this.#now = options.now ?? (() => performance.now())
    setMaxListeners(lookups.max, this.#closing.signal)
    this.#lookupWaitMs = options.lookupWaitMs ?? lookupWait.max * 1000
  }

  /** True when a name's addresses are known without a query. */
  isKnown(hostname: string): boolean {
    return Array.isArray(this.#known(plain(hostname)))
  }

  /**
   * The addresses of a name. Throws OutboundError: `dns` when it does not resolve in time, `busy` when the queries in progress left
   * no room in time, `aborted` when the signal aborted first.
   */
  async resolve(hostname: string, payer: Payer, signal?: AbortSignal): Promise<Addresses> {
    const name = plain(hostname)
    const known = this.#known(name)
    const answer = known ?? (await orStopped(this.#asking.get(name) ?? this.#askWithPlace(name, payer, signal), signal))
    if (answer instanceof OutboundError) throw answer
    return answer
  }

  /** Cancels every look-up. */
  close(): void {
    this.#closing.abort()
  }

  #known(name: string): Addresses | OutboundError | undefined {
    const local = this.#hosts.find(name) ?? (isLocalhost(name) ? loopback : undefined)
    if (local) return local
    const kept = this.#kept.get(name)
    return kept && kept.until > this.#now() ? kept.answer : undefined
  }

  async #askWithPlace(name: string, payer: Payer, signal?: AbortSignal): Promise<Addresses | OutboundError> {
    using late = within(this.#lookupWaitMs, ...(signal ? [signal] : []))
    const place = await this.#gate.enter(payer, name, late.signal)
    if (!place) return new OutboundError('busy', 'too many names of this agent or project are being looked up')
    const startedAt = this.#now()
    try {
      // Another look-up may have resolved the name while this one waited.
      return this.#known(name) ?? (await (this.#asking.get(name) ?? this.#askNow(name)))
    } finally {
      this.#gate.leave(place, this.#now() - startedAt < promptMs)
    }
  }

  #askNow(name: string): Promise<Addresses | OutboundError> {
    const asking = this.#ask(name, this.#closing.signal)
      .then(
        ({ addresses, ttlSeconds }) => this.#keep(name, addresses, ttlSeconds * 1000),
        (error: unknown) => this.#keep(name, new NameError('dns', 'the host name does not resolve', error)),
      )
      .finally(() => this.#asking.delete(name))
    this.#asking.set(name, asking)
    return asking
  }

  #keep(name: string, answer: Addresses | OutboundError, ttlMs = failureKeptMs): Addresses | OutboundError {
    if (this.#kept.size >= namesKept.max) this.#forgetOldest()
    const ms = Math.min(keptFor.max * 1000, Math.max(keptMinMs, ttlMs))
    this.#kept.delete(name)
    this.#kept.set(name, { answer, until: this.#now() + ms })
    return answer
  }

  #forgetOldest(): void {
    const [oldest] = this.#kept.keys()
    if (oldest !== undefined) this.#kept.delete(oldest)
  }
}

/** The form in which names are compared: in lower case, without the final dot. */
function plain(hostname: string): string {
  const name = hostname.toLowerCase()
  return name.endsWith('.') ? name.slice(0, -1) : name
}

/** Stops waiting for a look-up when the signal aborts. The look-up continues for the other callers. */
function orStopped<Answer>(asking: Promise<Answer>, signal: AbortSignal | undefined): Promise<Answer | OutboundError> {
  if (!signal) return asking
  return new Promise((resolve, reject) => {
    const stop = () => resolve(new OutboundError('aborted', 'the request was stopped'))
    signal.addEventListener('abort', stop, { once: true })
    asking.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
