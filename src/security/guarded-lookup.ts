import type { LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import type { AddressPolicy } from './address-policy.ts'
import { OutboundError } from './outbound-error.ts'
import { isLocalhost } from './url-guard.ts'

/** The shape of `dns.lookup` with `all: true`. */
export type Lookup = (
  hostname: string,
  options: { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/**
 * A `connect.lookup` that hands a socket only addresses that the policy allows. node:net dials what it returns, so the
 * address that was checked is the address that is dialled, and a name that changes its mind is checked again with each
 * new socket. One refused address refuses the whole answer: an honest public name has no private address.
 */
export function guardedLookup(policy: AddressPolicy, lookup: Lookup): LookupFunction {
  const shared = shareInFlight(lookup)
  return (hostname, options, callback) => {
    shared(hostname, (error, answer) => {
      const checked = error ? new OutboundError('dns', 'the host name does not resolve', error) : vet(hostname, answer)
      if (checked instanceof OutboundError) callback(checked, [])
      else if (options.all) callback(null, checked)
      else callback(null, checked[0]!.address, checked[0]!.family)
    })
  }

  function vet(hostname: string, answer: readonly LookupAddress[]): LookupAddress[] | OutboundError {
    if (answer.length === 0) return new OutboundError('dns', 'the host name does not resolve')
    const allowed = answer.filter(({ address }) => policy.check(address).allowed)
    // `localhost` is 127.0.0.1 and ::1 on many machines; allowing one of them is enough to dial that one.
    if (allowed.length === answer.length || (isLocalhost(hostname) && allowed.length > 0)) return allowed
    const found = answer.map(({ address }) => address).join(', ')
    return new OutboundError(
      'refused',
      'the host name resolves to an address that may not be reached from this gateway',
      new Error(`${hostname} resolves to ${found}`),
    )
  }
}

type Answered = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void

/**
 * One query per name at a time. `dns.lookup` occupies one of four threads of the process for as long as a dead name
 * server takes; 64 sockets to one such name must not take them all from everybody else.
 */
function shareInFlight(lookup: Lookup): (hostname: string, callback: Answered) => void {
  const waiting = new Map<string, Answered[]>()
  return (hostname, callback) => {
    const others = waiting.get(hostname)
    if (others) {
      others.push(callback)
      return
    }
    const callbacks = [callback]
    waiting.set(hostname, callbacks)
    lookup(hostname, { all: true }, (error, addresses) => {
      waiting.delete(hostname)
      for (const answered of callbacks) answered(error, addresses)
    })
  }
}
