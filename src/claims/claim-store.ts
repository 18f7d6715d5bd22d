import type { Reader, Transaction } from '../storage/database.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'
import { type Claim, silenceMs } from './claim.ts'

interface ClaimRow {
  projectId: string
  ref: string
  ownerId: string
  claimedAt: number
  seenAt: number
  sessionSeenAt: number | null
  owner: string | null
}

interface Key {
  projectId: string
  ref: string
}

const columns =
  sql.raw(`c.project_id as "projectId", c.ref, c.owner_id as "ownerId", c.claimed_at as "claimedAt", c.seen_at as "seenAt",
  (select s.last_seen_at from session s where s.agent_id = c.owner_id order by s.id desc limit 1) as "sessionSeenAt",
  case when c.owner_id = 'operator' then '@operator' else a.handle end as "owner"`)
const from = sql.raw('from claim c left join agent a on a.id = c.owner_id')

const take = statement<
  Key & { ownerId: string; now: number }
>(sql`insert into claim (project_id, ref, owner_id, claimed_at, seen_at)
  values (${p('projectId')}, ${p('ref')}, ${p('ownerId')}, ${p('now')}, ${p('now')}) on conflict (project_id, ref) do nothing`)
const renew = statement<Key & { ownerId: string; now: number }>(sql`update claim set seen_at = ${p('now')}
  where project_id = ${p('projectId')} and ref = ${p('ref')} and owner_id = ${p('ownerId')}`)
const move = statement<Key & { ownerId: string; nextId: string; now: number }>(sql`update claim
  set owner_id = ${p('nextId')}, claimed_at = ${p('now')}, seen_at = ${p('now')}
  where project_id = ${p('projectId')} and ref = ${p('ref')} and owner_id = ${p('ownerId')}`)
// The owner may have shown a sign of life since the claim was read. Then the claim is not stale.
const isStale = sql`owner_id = ${p('ownerId')} and (
  not (owner_id = 'operator' or exists (select 1 from agent a where a.id = owner_id))
  or (seen_at <= ${p('silentSince')}
    and coalesce((select max(s.last_seen_at) from session s where s.agent_id = owner_id), 0) <= ${p('silentSince')}))`
const takeOver = statement<Key & { ownerId: string; nextId: string; silentSince: number; now: number }>(sql`update claim
  set owner_id = ${p('nextId')}, claimed_at = ${p('now')}, seen_at = ${p('now')}
  where project_id = ${p('projectId')} and ref = ${p('ref')} and ${isStale}`)
const remove = statement<Key & { ownerId: string }>(
  sql`delete from claim where project_id = ${p('projectId')} and ref = ${p('ref')} and owner_id = ${p('ownerId')}`,
)
const removeStale = statement<Key & { ownerId: string; silentSince: number }>(
  sql`delete from claim where project_id = ${p('projectId')} and ref = ${p('ref')} and ${isStale}`,
)
const byRef = statement<Key, ClaimRow>(
  sql`select ${columns} ${from} where c.project_id = ${p('projectId')} and c.ref = ${p('ref')}`,
)
const lifeOf = statement<
  { ownerId: string },
  { seenAt: number | null; owner: string | null }
>(sql`select (select s.last_seen_at from session s where s.agent_id = v.owner_id order by s.id desc limit 1) as "seenAt",
  case when v.owner_id = 'operator' then '@operator' else (select a.handle from agent a where a.id = v.owner_id) end as "owner"
  from (select ${p('ownerId')} as owner_id) v`)
const page = statement<Key & { limit: number }, ClaimRow>(sql`select ${columns} ${from}
  where c.project_id = ${p('projectId')} and c.ref > ${p('ref')} order by c.ref ${limited}`)
// The page is found in the index of owners alone: others in the project may have many more claims.
const pageOfOwner = statement<Key & { ownerId: string; limit: number }, ClaimRow>(sql`select ${columns} from (
    select project_id, ref from claim where owner_id = ${p('ownerId')} and project_id = ${p('projectId')}
      and ref > ${p('ref')} order by ref ${limited}) page
  cross join claim c left join agent a on a.id = c.owner_id
  where c.project_id = page.project_id and c.ref = page.ref order by c.ref`)

// Each write returns false when another transaction was first. The caller then reads again.

/** Makes an owner of a ref that has none. */
export async function takeClaim(tx: Transaction, projectId: string, ref: string, ownerId: string): Promise<boolean> {
  return (await tx.run(take, { projectId, ref, ownerId, now: tx.now })) > 0
}

/** Records a sign of life of the owner. */
export async function renewClaim(tx: Transaction, { projectId, ref, ownerId }: Claim): Promise<boolean> {
  return (await tx.run(renew, { projectId, ref, ownerId, now: tx.now })) > 0
}

/** Changes the owner of a claim, unless it has changed already. */
export async function moveClaim(tx: Transaction, { projectId, ref, ownerId }: Claim, nextId: string): Promise<boolean> {
  return (await tx.run(move, { projectId, ref, ownerId, nextId, now: tx.now })) > 0
}

/** Changes the owner of a claim that is still stale. */
export async function takeOverClaim(tx: Transaction, claim: Claim, nextId: string): Promise<boolean> {
  const { projectId, ref, ownerId } = claim
  const silentSince = tx.now - silenceMs
  return (await tx.run(takeOver, { projectId, ref, ownerId, nextId, silentSince, now: tx.now })) > 0
}

/** Deletes a claim, unless its owner has changed. */
export async function removeClaim(tx: Transaction, { projectId, ref, ownerId }: Claim): Promise<boolean> {
  return (await tx.run(remove, { projectId, ref, ownerId })) > 0
}

/** Deletes a claim that is still stale. */
export async function removeStaleClaim(tx: Transaction, { projectId, ref, ownerId }: Claim): Promise<boolean> {
  return (await tx.run(removeStale, { projectId, ref, ownerId, silentSince: tx.now - silenceMs })) > 0
}

export async function findClaim(db: Reader, projectId: string, ref: string): Promise<Claim | undefined> {
  const row = await db.get(byRef, { projectId, ref })
  return row && fromRow(row)
}

/** Returns the claim of an owner that has not claimed the ref: it was seen when its newest session made a call. */
export async function findImplicitClaim(
  db: Reader,
  implicit: Pick<Claim, 'projectId' | 'ref' | 'ownerId' | 'claimedAt'>,
): Promise<Claim> {
  const life = await db.get(lifeOf, { ownerId: implicit.ownerId })
  return { ...implicit, owner: life?.owner ?? null, lastSeenAt: life?.seenAt ?? 0 }
}

/** Lists the claims of a project, or of one owner in it, in the order of their refs, after a ref (`''`: from the first). */
export async function listClaims(
  db: Reader,
  {
    projectId,
    ownerId,
    after,
    limit,
  }: { projectId: string; ownerId?: string | undefined; after: string; limit: number },
): Promise<Claim[]> {
  const range = { projectId, ref: after, limit }
  const rows = ownerId === undefined ? await db.all(page, range) : await db.all(pageOfOwner, { ...range, ownerId })
  return rows.map(fromRow)
}

function fromRow({ seenAt, sessionSeenAt, ...row }: ClaimRow): Claim {
  return { ...row, lastSeenAt: Math.max(seenAt, sessionSeenAt ?? 0) }
}
