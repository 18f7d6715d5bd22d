import type { LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import type { AddressPolicy } from './address-policy.ts'
import { NameError, OutboundError } from './outbound-error.ts'
import { isLocalhost } from './url-guard.ts'

/** The addresses of a name. Throws OutboundError. */
type ResolveName = (hostname: string) => Promise<readonly LookupAddress[]>

/**
 * A `connect.lookup` that returns only addresses that the policy allows. node:net dials what it returns, so the address that was
 * checked is the address that is dialled, and a name whose addresses change is checked again for each new socket. One refused
 * address refuses the whole answer: an honest public name has no private address.
 * @param dialling called with the address that is about to be dialled
 */
export function guardedLookup(
  policy: AddressPolicy,
  resolve: ResolveName,
  dialling: (addresses: readonly LookupAddress[]) => void = () => {},
): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname)
      .then((answer) => vet(hostname, answer), toError)
      .then((checked) => {
        if (checked instanceof Error) return callback(checked, [])
        dialling(checked)
        if (options.all) callback(null, checked)
        else callback(null, checked[0]!.address, checked[0]!.family)
      })
  }

  function vet(hostname: string, answer: readonly LookupAddress[]): LookupAddress[] | OutboundError {
    if (answer.length === 0) return new NameError('dns', 'the host name does not resolve')
    const allowed = answer.filter(({ address }) => policy.check(address).allowed)
    // `localhost` is 127.0.0.1 and ::1 on many machines; allowing one of them is enough to dial that one.
    if (allowed.length === answer.length || (isLocalhost(hostname) && allowed.length > 0)) return allowed
    const found = answer.map(({ address }) => address).join(', ')
    return new NameError(
      'refused',
      'the host name resolves to an address that may not be reached from this gateway',
      new Error(`${hostname} resolves to ${found}`),
    )
  }
}

function toError(error: unknown): OutboundError {
  return error instanceof OutboundError ? error : new NameError('dns', 'the host name does not resolve', error)
}
