import type { RowOf } from '../../storage/columns.ts'
import type { Reader, Transaction } from '../../storage/database.ts'
import { ListStatement } from '../../storage/list.ts'
import { RowTable } from '../../storage/row-table.ts'
import { limited, p, sql, statement } from '../../storage/statement.ts'
import { settingDefaults } from './gate.ts'
import { type BridgeAccount, noRecovery, type ParkedReason, type Recovery, recoveryFields } from './recovery.ts'

type Row = RowOf<typeof recoveryFields>

const recoveries = new RowTable('recovery', recoveryFields)
const { columns } = recoveries
const ofAgent = statement<{ agentId: string }, Row>(
  sql`select ${columns} from recovery where agent_id = ${p('agentId')}`,
)
const insert = statement<{ agentId: string; projectId: string }>(
  sql`insert into recovery (agent_id, project_id) values (${p('agentId')}, ${p('projectId')}) on conflict (agent_id) do nothing`,
)
const saved = recoveries.setAllBut('agentId', 'projectId', 'bridge', 'bridgeAt')
const save = statement<Row>(sql`update recovery set ${saved} where agent_id = ${p('agentId')}`)
const saveAccount = statement<{ agentId: string; bridge: string; now: number }>(
  sql`update recovery set bridge = ${p('bridge')}, bridge_at = ${p('now')} where agent_id = ${p('agentId')}`,
)
const parkedOf = statement<{ agentId: string }, { until: number | null }>(
  sql`select parked_until as "until" from recovery where agent_id = ${p('agentId')}`,
)
const parkedAmong = new ListStatement<object, { agentId: string; until: number; open: number; reason: string }>(
  (ids) => sql`select agent_id as "agentId", parked_until as "until", parked_open as "open", parked_reason as "reason"
    from recovery where agent_id in (${ids}) and parked_until is not null`,
)
const parkedIn = statement<{ projectId: string; now: number; limit: number }, Row>(
  sql`select ${columns} from recovery where project_id = ${p('projectId')}
    and parked_until > ${p('now')} order by parked_since ${limited}`,
)
const remove = statement<{ agentId: string }>(sql`delete from recovery where agent_id = ${p('agentId')}`)

/** Returns what recovery knows of an agent; of one that it knows nothing of, the beginning. */
export async function findRecovery(db: Reader, agentId: string, projectId: string): Promise<Recovery> {
  const row = await db.get(ofAgent, { agentId })
  return row ? fromRow(row) : noRecovery(agentId, projectId)
}

/** Writes what recovery knows of an agent, but for the account of its bridge. The caller has locked the agent. */
export async function saveRecovery(tx: Transaction, recovery: Recovery): Promise<void> {
  const { inFlight, parked, ...rest } = recovery
  const { agentId, projectId } = rest
  await tx.run(insert, { agentId, projectId })
  const row = recoveries.toRow({
    ...rest,
    mode: inFlight?.mode ?? null,
    since: inFlight?.since ?? null,
    deadlineAt: inFlight?.deadlineAt ?? null,
    begunAt: inFlight?.begunAt ?? null,
    sessionId: inFlight?.sessionId ?? null,
    evidence: inFlight?.evidence ?? null,
    parkedSince: parked?.since ?? null,
    parkedUntil: parked?.until ?? null,
    parkedOpen: parked?.isOpen ?? false,
    parkedReason: parked?.reason ?? null,
    parkedDetail: parked?.detail ?? null,
  })
  await tx.run(save, row)
}

/** Writes the account of an agent's bridge. */
export async function saveBridgeAccount(
  tx: Transaction,
  { agentId, projectId }: Pick<Recovery, 'agentId' | 'projectId'>,
  account: BridgeAccount,
): Promise<void> {
  await tx.run(insert, { agentId, projectId })
  await tx.run(saveAccount, { agentId, bridge: JSON.stringify(account), now: tx.now })
}

/** Returns what is known of the parked agents of a project, the longest parked first. */
export async function listParked(db: Reader, projectId: string, now: number, limit: number): Promise<Recovery[]> {
  return (await db.all(parkedIn, { projectId, now, limit })).map(fromRow)
}

/** Why mail to an agent waits: its harness is at a limit. `until`: ms since the epoch; null: until a person acts. */
export interface ParkReason {
  readonly reason: string
  readonly until: number | null
}

/** Returns those of the agents that are parked, by their ids. */
export async function findParked(db: Reader, agentIds: readonly string[]): Promise<Map<string, ParkReason>> {
  const rows = await parkedAmong.all(db, {}, agentIds)
  return new Map(
    rows.map(({ agentId, until, open, reason }) => [agentId, { reason, until: open === 1 ? null : until }]),
  )
}

export async function deleteRecoveryOf(tx: Transaction, agentId: string): Promise<void> {
  await tx.run(remove, { agentId })
}

function fromRow(row: Row): Recovery {
  const { mode, since, deadlineAt, begunAt, sessionId, evidence, ...others } = recoveries.fromRow(row)
  const { parkedSince, parkedUntil, parkedOpen, parkedReason, parkedDetail, ...rest } = others
  return {
    ...rest,
    inFlight:
      mode === null || since === null
        ? null
        : {
            mode,
            since,
            // A gateway before this field has ordered it.
            deadlineAt: deadlineAt ?? since + settingDefaults.bootTimeoutSeconds * 1_000,
            begunAt,
            sessionId,
            evidence: evidence ?? {},
          },
    parked:
      parkedUntil === null
        ? null
        : {
            since: parkedSince ?? parkedUntil,
            until: parkedUntil,
            isOpen: parkedOpen,
            reason: parkedReason as ParkedReason,
            detail: parkedDetail,
          },
  }
}

/** Until when an agent is parked, ms since the epoch; null: it is not. The time may be over. */
export async function parkedUntilOf(db: Reader, agentId: string): Promise<number | null> {
  return (await db.get(parkedOf, { agentId }))?.until ?? null
}
