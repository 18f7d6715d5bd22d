import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { outboundLimits } from './outbound-limits.ts'

/** Addresses of a name, and the time for which they may be cached. */
interface FoundAddresses {
  readonly addresses: readonly LookupAddress[]
  readonly ttlSeconds: number
}

/** Queries the network for the addresses of a name. Rejects when there are none, none came in time, or the signal aborted. */
export type AskName = (hostname: string, signal: AbortSignal) => Promise<FoundAddresses>

/** Time before a server is queried again; the limit for all tries is `outboundLimits.nameLookup`. */
const tryMs = 1_500
const tries = 3
/** Time that the second address family has after the first has answered (RFC 8305 section 3 has less, for interactive use). */
const otherFamilyMs = 500

/**
 * Queries the machine's name servers, or those given as `address:port`, for A and AAAA at the same time. It runs in c-ares on the
 * event loop: a name server that does not answer costs a timer and no thread. Each look-up has a resolver of its own (10 µs), so
 * that cancelling it cancels nothing else, and a change of the machine's name servers takes effect at once. Search domains are not
 * applied.
 */
export function createAskName(servers?: readonly string[]): AskName {
  return async (hostname, signal) => {
    const resolver = new Resolver({ timeout: tryMs, tries })
    if (servers) resolver.setServers(servers)
    const cancel = () => resolver.cancel()
    let timer = setTimeout(cancel, outboundLimits.nameLookup.max * 1000)
    const soon = () => {
      clearTimeout(timer)
      timer = setTimeout(cancel, otherFamilyMs)
    }
    const ttl = { ttl: true } as const
    const queries = [resolver.resolve4(hostname, ttl), resolver.resolve6(hostname, ttl)]
    for (const answer of queries) answer.then(soon, () => {})
    signal.addEventListener('abort', cancel, { once: true })
    const [v4, v6] = await Promise.allSettled(queries)
    clearTimeout(timer)
    signal.removeEventListener('abort', cancel)
    const records = [...recordsOf(v4!, 4), ...recordsOf(v6!, 6)]
    if (records.length === 0) throw (v4 as PromiseRejectedResult).reason ?? new Error('no address')
    const addresses = records.map(({ address, family }) => ({ address, family }))
    return { addresses, ttlSeconds: Math.min(...records.map((record) => record.ttl)) }
  }
}

function recordsOf(answer: PromiseSettledResult<{ address: string; ttl: number }[]>, family: 4 | 6) {
  return answer.status === 'fulfilled' ? answer.value.map((record) => ({ ...record, family })) : []
}
