import { Router } from 'express'
import { type Claim, silenceMs, stalenessOf } from '../../claims/claim.ts'
import { findClaim, listClaims } from '../../claims/claim-store.ts'
import { claimRef, releaseRef } from '../../claims/claims.ts'
import { type HandOffContext, handOff } from '../../claims/hand-off.ts'
import type { Clock } from '../../lib/clock.ts'
import type { JsonObject } from '../../lib/json.ts'
import { requireAddressed } from '../../registry/agents/addresses.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import type { Reader } from '../../storage/database.ts'
import { noteTarget } from '../access/rest-access.ts'
import { callerOf } from '../auth.ts'
import { onlyMethods } from '../method-not-allowed.ts'
import { parse } from '../validate.ts'
import { claimInput, claimQuery, handoffInput, releaseBody } from './schemas.ts'

const limitDefault = 50

/** `/v1/claims`: who works on what, in the caller's project. Source: S4-7, S4-8. */
export function claimRoutes(context: HandOffContext & { readonly clock: Clock }): Router {
  const { db, clock } = context
  const router = Router()
  router.post('/', async (req, res) => {
    const { ref } = parse(claimInput, req.body)
    noteTarget(res, ref)
    const { claim, outcome, ...rest } = await claimRef(context, callerOf(res), ref)
    res.status(outcome === 'renewed' ? 200 : 201).json({ ...claimView(claim, clock.now()), outcome, ...rest })
  })
  router.get('/', async (req, res) => {
    const caller = callerOf(res)
    const { ref, owner, limit = limitDefault, pageToken = '' } = parse(claimQuery, req.query)
    const ownerId = await ownerIdOf(db, caller, owner)
    const found = ref === undefined ? undefined : await findClaim(db, caller.projectId, ref)
    const claims =
      ref === undefined
        ? await listClaims(db, { projectId: caller.projectId, ownerId, after: pageToken, limit: limit + 1 })
        : [found].filter((claim) => claim !== undefined && (ownerId ?? claim.ownerId) === claim.ownerId)
    const page = claims.slice(0, limit) as Claim[]
    res.json({
      claims: page.map((claim) => claimView(claim, clock.now())),
      nextPageToken: claims.length > limit ? page.at(-1)!.ref : '',
    })
  })
  router.delete('/', async (req, res) => {
    // Some clients and proxies drop the body of a DELETE.
    const { ref } = parse(claimInput, { ...req.query, ...parse(releaseBody, req.body) })
    noteTarget(res, ref)
    await releaseRef(context, callerOf(res), ref)
    res.status(204).end()
  })
  router.post('/handoff', async (req, res) => {
    const input = parse(handoffInput, req.body)
    noteTarget(res, input.ref)
    const { claim, messageId } = await handOff(context, callerOf(res), input)
    res.json({ ...claimView(claim, clock.now()), messageId })
  })
  router.all('/', onlyMethods('GET', 'POST', 'DELETE'))
  router.all('/handoff', onlyMethods('POST'))
  return router
}

async function ownerIdOf(db: Reader, caller: Caller, owner: string | undefined): Promise<string | undefined> {
  if (owner === undefined) return undefined
  if (/^@?operator$/i.test(owner)) return 'operator'
  return (await requireAddressed(db, caller, owner, 'owner')).id
}

/** A claim with how fresh it is: a stale one is told as such, and from when on one may be taken over. */
function claimView(claim: Claim, now: number): JsonObject {
  const instant = (ms: number) => new Date(ms).toISOString()
  const reason = stalenessOf(claim, now)
  return {
    ref: claim.ref,
    owner: claim.owner ?? '@removed',
    claimedAt: instant(claim.claimedAt),
    lastSeenAt: instant(claim.lastSeenAt),
    stale: reason !== undefined,
    ...(reason === undefined ? {} : { reason }),
    staleAt: instant(claim.lastSeenAt + silenceMs),
  }
}
