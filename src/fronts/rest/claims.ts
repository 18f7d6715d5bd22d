import { type Claim, silenceMs, stalenessOf } from '../../claims/claim.ts'
import { findClaim, listClaims } from '../../claims/claim-store.ts'
import { claimRef, releaseRef } from '../../claims/claims.ts'
import { handoffClaim } from '../../claims/handoff.ts'
import { requireAddressed } from '../../registry/agents/addresses.ts'
import { isOperatorAddress, operatorId, removedIdentity } from '../../registry/agents/identity.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import type { Reader } from '../../storage/database.ts'
import { requireScope } from '../access/authorise.ts'
import { parse } from '../validate.ts'
import { claimInput, claimQuery, handoffInput } from './claim-input.ts'
import { instant } from './instant.ts'
import { pageOf } from './page.ts'
import { route } from './route.ts'

const limitDefault = 50

/** A claim. Instants are ISO 8601. */
export interface ClaimView {
  readonly ref: string
  /** `@donna`, or `@removed` */
  readonly owner: string
  readonly claimedAt: string
  readonly lastSeenAt: string
  /** True when other agents may take the claim over. */
  readonly stale: boolean
  /** Why it is stale, or why it was taken over. */
  readonly reason?: string
  readonly staleAt: string
}

export interface ClaimedView extends ClaimView {
  readonly outcome: 'claimed' | 'renewed' | 'taken_over'
  readonly previousOwner?: string
}

export interface HandedOffView extends ClaimView {
  readonly messageId: string
}

/** `/v1/claims`: the claims of the caller's project. Source: S4-7, S4-8. */
export const claimRoutes = [
  route('GET /v1/claims', {
    name: 'claim.list',
    what: 'list claims',
    access: { scope: 'read', operator: 'any', agent: 'project', peer: 'never', audited: 'no' },
    query: claimQuery,
    handle: async ({ caller, query }, { claims, db, clock }) => {
      const { limit = limitDefault } = query
      const ownerId = await ownerIdOf(db, caller, query.owner)
      const found = await findClaims(db, caller.projectId, { ...query, ownerId, limit: limit + 1 })
      const { items, nextPageToken } = pageOf(found, limit, (claim) => claim.ref)
      return { claims: items.map((claim) => claimView(claim, claims.silenceUntil(clock.now()))), nextPageToken }
    },
  }),
  route('POST /v1/claims', {
    name: 'claim.take',
    what: 'claim work',
    access: { scope: 'work', operator: 'any', agent: 'project', peer: 'never', audited: 'soon' },
    body: claimInput,
    status: 201,
    handle: async ({ caller, body, reply }, { claims, clock }): Promise<ClaimedView> => {
      reply.target = body.ref
      const { claim, outcome, ...rest } = await claimRef(claims, caller, body.ref)
      if (outcome === 'renewed') reply.status = 200
      return { ...claimView(claim, claims.silenceUntil(clock.now())), outcome, ...rest }
    },
  }),
  route('DELETE /v1/claims', {
    name: 'claim.release',
    what: 'release a claim',
    access: { scope: 'work', operator: 'any', agent: 'own', peer: 'never', audited: 'soon' },
    // Some clients and proxies drop the body of a DELETE: the query says the same.
    body: claimInput.partial(),
    query: claimInput.partial(),
    status: 204,
    handle: async ({ caller, body, query, reply }, { claims }) => {
      const input = parse(claimInput, { ...query, ...body })
      reply.target = input.ref
      await releaseRef(claims, caller, input.ref)
    },
  }),
  route('POST /v1/claims/handoff', {
    name: 'claim.handOff',
    what: 'hand work over',
    access: { scope: 'work', operator: 'any', agent: 'own', peer: 'never', audited: 'soon' },
    body: handoffInput,
    handle: async ({ caller, body, reply }, { claims, clock }): Promise<HandedOffView> => {
      reply.target = body.ref
      if (body.message !== undefined) requireScope(caller, 'send', 'A message with a hand-off is mail, which')
      const { claim, messageId } = await handoffClaim(claims, caller, body)
      return { ...claimView(claim, claims.silenceUntil(clock.now())), messageId }
    },
  }),
] as const

interface ClaimFilter {
  readonly ref?: string | undefined
  readonly ownerId: string | undefined
  readonly pageToken?: string | undefined
  readonly limit: number
}

async function findClaims(db: Reader, projectId: string, filter: ClaimFilter): Promise<Claim[]> {
  const { ref, ownerId, pageToken: after = '', limit } = filter
  if (ref === undefined) return listClaims(db, { projectId, ownerId, after, limit })
  const claim = await findClaim(db, projectId, ref)
  return claim && (ownerId ?? claim.ownerId) === claim.ownerId ? [claim] : []
}

async function ownerIdOf(db: Reader, caller: Caller, owner: string | undefined): Promise<string | undefined> {
  if (owner === undefined) return undefined
  if (isOperatorAddress(owner)) return operatorId
  return (await requireAddressed(db, caller, owner, 'owner')).id
}

function claimView(claim: Claim, now: number): ClaimView {
  const reason = stalenessOf(claim, now)
  return {
    ref: claim.ref,
    owner: claim.owner ?? removedIdentity,
    claimedAt: instant(claim.claimedAt),
    lastSeenAt: instant(claim.lastSeenAt),
    stale: reason !== undefined,
    ...(reason === undefined ? {} : { reason }),
    staleAt: instant(claim.lastSeenAt + silenceMs),
  }
}
