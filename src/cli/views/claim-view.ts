import type { Io } from '../io.ts'
import { table } from '../table.ts'

/** Who works on what. */
export interface ClaimView {
  ref: string
  owner?: string
  claimedAt?: string
  lastSeenAt?: string
  stale?: boolean
  reason?: string
  outcome?: string
}

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
