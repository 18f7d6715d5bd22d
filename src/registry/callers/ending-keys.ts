import type { Reader } from '../../storage/database.ts'
import { limited, p, type SQL, sql, statement } from '../../storage/statement.ts'
import type { OperatorRole } from '../../words/callers.ts'

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

/** A key is renewed by one that was made after it for the same, has the same label, and lasts longer. */
const isRenewed = (table: SQL, owner: SQL): SQL => sql`exists (select 1 from ${table} n where ${owner}
  and n.revoked_at is null and n.created_at > k.created_at and coalesce(n.label, '') = coalesce(k.label, '')
  and (n.expires_at is null or n.expires_at > k.expires_at))`
const columns = sql`k.id as "keyId", k.label, k.created_at as "createdAt", k.expires_at as "expiresAt"`
const ends = sql`k.expires_at > ${p('now')} and k.expires_at <= ${p('until')} and k.expires_at is not null and k.revoked_at is null`

const ofAgents = statement<Ending & { projectId: string; agentId: string }, EndingKey & { agentId: string }>(
  sql`select ${columns}, k.agent_id as "agentId" from api_key k join agent a on a.id = k.agent_id
    where ${ends} and a.project_id = ${p('projectId')} and (${p('agentId')} = '' or k.agent_id = ${p('agentId')})
      and not ${isRenewed(sql.raw('api_key'), sql.raw('n.agent_id = k.agent_id'))}
    order by k.expires_at ${limited}`,
)
const ofOperators = statement<Ending, EndingKey & { role: OperatorRole; projects: string | null }>(
  sql`select ${columns}, k.role, k.projects from operator_key k
    where ${ends} and not ${isRenewed(sql.raw('operator_key'), sql.raw('n.role = k.role'))}
    order by k.expires_at ${limited}`,
)

/** Returns the keys of agents of a project, or of one of them (`agentId`; `''`: all), that end until an instant. The first end first. */
export const listEndingKeys = (db: Reader, of: Ending & { readonly projectId: string; readonly agentId: string }) =>
  db.all(ofAgents, of)

/** Returns the operator keys that end until an instant, the first end first. `projects`: JSON; null: every project. */
export const listEndingOperatorKeys = (db: Reader, of: Ending) => db.all(ofOperators, of)
