import { newUlid } from '../../lib/ids.ts'
import { hashSecret, newApiKey } from '../../security/secret.ts'
import { flag, int, json, type NounOf, nullable, type RowOf, text, word } from '../../storage/columns.ts'
import type { Reader, Transaction } from '../../storage/database.ts'
import { ListStatement } from '../../storage/list.ts'
import { RowTable } from '../../storage/row-table.ts'
import { limited, p, sql, statement } from '../../storage/statement.ts'
import type { OperatorRole } from '../../words/callers.ts'

const fields = {
  id: text,
  /** The name of its person. */
  label: nullable(text),
  role: word<OperatorRole>(),
  /** null: every project. */
  projects: nullable(json<readonly string[]>()),
  /** True: it has the scope `approve`. */
  approves: flag,
  expiresAt: nullable(int),
  /** To the minute; null: not yet. */
  lastUsedAt: nullable(int),
  createdByKey: text,
  createdAt: int,
  revokedAt: nullable(int),
}
/** The description of an operator key, without the key itself. Instants are ms since the epoch. */
export type OperatorKey = NounOf<typeof fields>
type OperatorKeyRow = RowOf<typeof fields>

const operatorKeys = new RowTable('operator_key', fields, { hash: text })
const { columns, fromRow } = operatorKeys
const insert = operatorKeys.insert()
const byHash = statement<{ hash: string }, OperatorKeyRow>(
  sql`select ${columns} from operator_key where hash = ${p('hash')} and revoked_at is null`,
)
const byId = statement<{ id: string }, OperatorKeyRow>(sql`select ${columns} from operator_key where id = ${p('id')}`)
const all = statement<object, OperatorKeyRow>(sql`select ${columns} from operator_key order by created_at, id`)
const madeBy = statement<{ keyId: string }, OperatorKeyRow>(
  sql`select ${columns} from operator_key where created_by_key = ${p('keyId')} order by id /*postgres || '' */`,
)
const expired = statement<{ now: number; limit: number }, { id: string }>(
  sql`select id from operator_key where expires_at <= ${p('now')} and expires_at is not null and revoked_at is null
    order by expires_at ${limited}`,
)
const revoke = statement<{ id: string; now: number }>(
  sql`update operator_key set revoked_at = ${p('now')} where id = ${p('id')} and revoked_at is null`,
)
const use = new ListStatement<{ at: number }>(
  (ids) => sql`update operator_key set last_used_at = ${p('at')} where id in (${ids})`,
)

const labels = new ListStatement<object, { id: string; label: string | null }>(
  (ids) => sql`select id, label from operator_key where id in (${ids})`,
)

/** The prefix of operator keys. */
export const operatorKeyPrefix = 'rko_'

/** Makes a key. Only this call returns it; the store has its hash. */
export async function createOperatorKey(
  tx: Transaction,
  key: Pick<OperatorKey, 'label' | 'role' | 'projects' | 'approves' | 'expiresAt' | 'createdByKey'>,
): Promise<{ id: string; operatorKey: string }> {
  const operatorKey = operatorKeyPrefix + newApiKey().replace(/^rk_/, '')
  const id = newUlid(tx.now)
  const made = { ...key, id, lastUsedAt: null, createdAt: tx.now, revokedAt: null }
  await tx.run(insert, { ...operatorKeys.toRow(made), hash: hashSecret(operatorKey) })
  return { id, operatorKey }
}

/** Finds the key with a hash, unless it is revoked. */
export async function findOperatorKey(db: Reader, hash: string): Promise<OperatorKey | undefined> {
  const row = await db.get(byHash, { hash })
  return row && fromRow(row)
}

/** Finds a key, also a revoked one. */
export async function findOperatorKeyById(db: Reader, id: string): Promise<OperatorKey | undefined> {
  const row = await db.get(byId, { id })
  return row && fromRow(row)
}

export async function listOperatorKeys(db: Reader): Promise<OperatorKey[]> {
  return (await db.all(all, {})).map(fromRow)
}

/** Lists the operator keys that a key made, revoked ones too. */
export async function listOperatorKeysMadeBy(db: Reader, keyId: string): Promise<OperatorKey[]> {
  return (await db.all(madeBy, { keyId })).map(fromRow)
}

/** Lists the ids of expired keys that are not revoked. */
export async function listExpiredOperatorKeys(db: Reader, now: number, limit: number): Promise<string[]> {
  return (await db.all(expired, { now, limit })).map(({ id }) => id)
}

/** Returns false when the key was revoked before. */
export async function revokeOperatorKey(tx: Transaction, id: string): Promise<boolean> {
  return (await tx.run(revoke, { id, now: tx.now })) > 0
}

/** Records the last use of keys. Ids of other kinds are ignored. */
export function noteOperatorKeyUse(tx: Transaction, ids: readonly string[], at: number): Promise<void> {
  return use.run(tx, { at }, ids)
}

const liveAmong = new ListStatement<object, { id: string }>(
  (ids) => sql`select id from operator_key where id in (${ids}) and revoked_at is null`,
)

/** Filters to the ids of operator keys that are not revoked, in no order. */
export async function findLiveOperatorKeys(db: Reader, ids: readonly string[]): Promise<string[]> {
  return (await liveAmong.all(db, {}, ids)).map(({ id }) => id)
}

/** Returns the labels of the operator keys among these keys, by their ids. */
export async function readLabels(db: Reader, keyIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await labels.all(db, {}, [...new Set(keyIds)])
  return new Map(rows.flatMap(({ id, label }) => (label === null ? [] : [[id, label] as const])))
}
