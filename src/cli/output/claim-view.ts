import type { Io } from '../../client/io.ts'
import type { ClaimView } from '../../client/route-types.ts'
import { table } from './table.ts'
import { when } from './when.ts'

export function claimTable(io: Io, claims: readonly ClaimView[]): string {
  return table(
    io,
    ['REF', 'OWNER', 'SINCE', 'LAST SEEN', 'STATE'],
    claims.map((claim) => [
      claim.ref,
      claim.owner,
      when(io, claim.claimedAt),
      when(io, claim.lastSeenAt),
      claim.stale ? `stale: ${claim.reason}` : 'held',
    ]),
    'Nothing is claimed.',
  )
}
