import { Problem } from '../errors.ts'
import { type NewEvent, operatorAudience } from '../log/event.ts'
import { removedIdentity } from '../registry/agents/identity.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { type Claim, silenceMs } from './claim.ts'

/** The problem of a ref with another owner: who has it, since when, and from when on it may be taken over. */
export function conflict(claim: Claim): Problem {
  const { ref, owner, claimedAt, lastSeenAt } = claim
  const seenAt = new Date(lastSeenAt).toISOString()
  const staleAt = new Date(lastSeenAt + silenceMs).toISOString()
  return new Problem('claim-conflict', {
    field: 'ref',
    detail: `ref: "${ref}" is claimed by ${owner ?? removedIdentity}, last seen at ${seenAt}. Ask the owner to hand it off, or claim it after ${staleAt} if the owner is silent until then.`,
    extra: {
      current: {
        ref,
        owner: owner ?? removedIdentity,
        claimedAt: new Date(claimedAt).toISOString(),
        lastSeenAt: seenAt,
        staleAt,
      },
    },
  })
}

type ClaimEventType = Extract<NewEvent['type'], `claim.${string}`>

/** An event about a claim. Its audience: the owners before and after, and the operator. */
export function claimEvent(
  type: ClaimEventType,
  caller: Caller,
  ownerIds: readonly string[],
  data: NewEvent['data'],
): NewEvent {
  return { type, actor: caller.identity, audience: [...new Set([operatorAudience, ...ownerIds])], data }
}
