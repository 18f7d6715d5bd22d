import type { ClaimView } from '../../fronts/rest/claims.ts'
import type { Io } from '../io.ts'
import { table } from '../table.ts'

export function claimTable(io: Io, claims: readonly ClaimView[]): string {
  return table(
    io,
    ['REF', 'OWNER', 'SINCE', 'LAST SEEN', 'STATE'],
    claims.map((claim) => [
      claim.ref,
      claim.owner,
      claim.claimedAt,
      claim.lastSeenAt,
      claim.stale ? `stale: ${claim.reason}` : 'held',
    ]),
    'Nothing is claimed.',
  )
}
