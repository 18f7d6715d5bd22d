import type { Reader } from '../../storage/database.ts'
import { lateFilter, limited, p, sql, statement } from '../../storage/statement.ts'
import { listOperatorKeys, type OperatorKey } from './operator-key-store.ts'

/** A key that ends soon and was not renewed. Instants are ms since the epoch. */
export interface EndingKey {
  readonly keyId: string
  readonly label: string | null
  readonly createdAt: number
  readonly expiresAt: number
}

interface Ending {
  readonly now: number
  readonly until: number
  readonly limit: number
}

const ends = sql`k.expires_at > ${p('now')} and k.expires_at <= ${p('until')} and k.expires_at is not null and k.revoked_at is null`

// A key is renewed by one that was made after it for the same, has the same label, and lasts longer.
const ofAgents = statement<Ending & { projectId: string; agentId: string }, EndingKey & { agentId: string }>(
  sql`select k.id as "keyId", k.label, k.created_at as "createdAt", k.expires_at as "expiresAt", k.agent_id as "agentId"
    from api_key k join agent a on a.id = k.agent_id
    where ${ends} and ${lateFilter(sql`a.project_id = ${p('projectId')}`)} and (${p('agentId')} = '' or k.agent_id = ${p('agentId')})
      and not exists (select 1 from api_key n where n.agent_id = k.agent_id and n.revoked_at is null
        and n.created_at > k.created_at and coalesce(n.label, '') = coalesce(k.label, '')
        and (n.expires_at is null or n.expires_at > k.expires_at))
    order by k.expires_at ${limited}`,
)
const anyOfOperators = statement<Omit<Ending, 'limit'>, { id: string }>(
  sql`select k.id from operator_key k where ${ends} order by k.expires_at limit 1`,
)

/** Returns the keys of agents of a project, or of one of them (`agentId`; `''`: all), that end until an instant. The first end first. */
export const listEndingKeys = (db: Reader, of: Ending & { readonly projectId: string; readonly agentId: string }) =>
  db.all(ofAgents, of)

/** Returns the operator keys that end until an instant, in the order in which they were made. */
export async function listEndingOperatorKeys(
  db: Reader,
  { now, until }: Ending,
): Promise<(EndingKey & Pick<OperatorKey, 'role' | 'projects'>)[]> {
  if (!(await db.get(anyOfOperators, { now, until }))) return []
  const live = (await listOperatorKeys(db)).filter(({ revokedAt }) => revokedAt === null)
  return live.flatMap(({ id: keyId, expiresAt, ...key }) => {
    if (expiresAt === null || expiresAt <= now || expiresAt > until) return []
    const isRenewed = live.some(
      (other) =>
        other.role === key.role &&
        other.label === key.label &&
        other.createdAt > key.createdAt &&
        (other.expiresAt ?? Number.POSITIVE_INFINITY) > expiresAt,
    )
    return isRenewed ? [] : [{ ...key, keyId, expiresAt }]
  })
}
