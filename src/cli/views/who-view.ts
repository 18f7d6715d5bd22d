import type { PresentAgentView } from '../../fronts/rest/agents/view.ts'
import type { ClaimView } from '../../fronts/rest/claims.ts'
import type { Io } from '../io.ts'
import { table } from '../table.ts'
import { clip, plain } from '../terminal-text.ts'
import { when } from '../when.ts'

export function whoTable(io: Io, agents: readonly PresentAgentView[], claims: readonly ClaimView[]): string {
  return table(
    io,
    ['AGENT', 'NAME', 'SESSION', 'SURFACE', 'DOING', 'LAST SEEN', 'CAN', 'WORKS ON'],
    agents.map(({ handle, displayName, session, presence, lastSeenAt }) => [
      handle,
      displayName,
      session ? `s${session.sessionId.slice(-6)}` : undefined,
      session?.surface,
      session ? presence.state : 'no session',
      when(io, lastSeenAt) || 'never',
      session?.capabilities?.join(','),
      clip(worksOn(handle, claims), 60),
    ]),
    'No agents yet. Add one with: rouse agent add @donna',
  )
}

function worksOn(handle: string, claims: readonly ClaimView[]): string {
  const own = claims.filter(({ owner }) => owner === handle)
  return own.map(({ ref, stale }) => plain(ref) + (stale ? ' (stale)' : '')).join(', ')
}
