import type { JsonObject } from '../../lib/json.ts'
import type { Reader, Transaction } from '../../storage/database.ts'
import { ListStatement } from '../../storage/list.ts'
import { limited, p, sql, statement } from '../../storage/statement.ts'
import { settingDefaults } from './gate.ts'
import { type BridgeAccount, noRecovery, type ParkedReason, type Recovery, type RecoveryMode } from './recovery.ts'

interface Row {
  agentId: string
  projectId: string
  epoch: number
  mode: string | null
  since: number | null
  deadlineAt: number | null
  begunAt: number | null
  sessionId: string | null
  evidence: string | null
  actedFor: string | null
  abandoned: number
  acts: string
  deferrals: number
  pulsedAt: number | null
  pulsedFor: string | null
  parkedSince: number | null
  parkedUntil: number | null
  parkedOpen: number
  parkedReason: string | null
  parkedDetail: string | null
  decision: string | null
  bridge: string | null
  bridgeAt: number | null
}

const columns =
  sql.raw(`agent_id as "agentId", project_id as "projectId", epoch, mode, since, deadline_at as "deadlineAt", begun_at as "begunAt", session_id as "sessionId",
  evidence, acted_for as "actedFor", abandoned, acts, deferrals, pulsed_at as "pulsedAt", pulsed_for as "pulsedFor",
  parked_since as "parkedSince", parked_until as "parkedUntil", parked_open as "parkedOpen", parked_reason as "parkedReason",
  parked_detail as "parkedDetail", decision, bridge, bridge_at as "bridgeAt"`)
const ofAgent = statement<{ agentId: string }, Row>(
  sql`select ${columns} from recovery where agent_id = ${p('agentId')}`,
)
const insert = statement<{ agentId: string; projectId: string }>(
  sql`insert into recovery (agent_id, project_id) values (${p('agentId')}, ${p('projectId')}) on conflict (agent_id) do nothing`,
)
const save =
  statement<Row>(sql`update recovery set epoch = ${p('epoch')}, mode = ${p('mode')}, since = ${p('since')}, deadline_at = ${p('deadlineAt')},
    begun_at = ${p('begunAt')}, session_id = ${p('sessionId')}, evidence = ${p('evidence')}, acted_for = ${p('actedFor')},
    abandoned = ${p('abandoned')}, acts = ${p('acts')}, deferrals = ${p('deferrals')}, pulsed_at = ${p('pulsedAt')},
    pulsed_for = ${p('pulsedFor')}, parked_since = ${p('parkedSince')}, parked_until = ${p('parkedUntil')}, parked_open = ${p('parkedOpen')},
    parked_reason = ${p('parkedReason')}, parked_detail = ${p('parkedDetail')}, decision = ${p('decision')}
  where agent_id = ${p('agentId')}`)
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
  const { agentId, projectId, inFlight, parked, acts, decision, bridge: _, bridgeAt: __, ...rest } = recovery
  await tx.run(insert, { agentId, projectId })
  await tx.run(save, {
    ...rest,
    agentId,
    projectId,
    mode: inFlight?.mode ?? null,
    since: inFlight?.since ?? null,
    deadlineAt: inFlight?.deadlineAt ?? null,
    begunAt: inFlight?.begunAt ?? null,
    sessionId: inFlight?.sessionId ?? null,
    evidence: inFlight ? JSON.stringify(inFlight.evidence) : null,
    acts: JSON.stringify(acts),
    parkedSince: parked?.since ?? null,
    parkedUntil: parked?.until ?? null,
    parkedOpen: parked?.isOpen ? 1 : 0,
    parkedReason: parked?.reason ?? null,
    parkedDetail: parked?.detail ?? null,
    decision: decision && JSON.stringify(decision),
    bridge: null,
    bridgeAt: null,
  })
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
export interface Held {
  readonly reason: string
  readonly until: number | null
}

/** Returns those of the agents that are parked, by their ids. */
export async function findParked(db: Reader, agentIds: readonly string[]): Promise<Map<string, Held>> {
  const rows = await parkedAmong.all(db, {}, agentIds)
  return new Map(
    rows.map(({ agentId, until, open, reason }) => [agentId, { reason, until: open === 1 ? null : until }]),
  )
}

export async function deleteRecoveryOf(tx: Transaction, agentId: string): Promise<void> {
  await tx.run(remove, { agentId })
}

function fromRow(row: Row): Recovery {
  const { mode, since, deadlineAt, begunAt, sessionId, evidence, acts, decision, bridge } = row
  const { parkedSince, parkedUntil, parkedOpen, parkedReason, parkedDetail, ...rest } = row
  const { agentId, projectId, epoch, actedFor, abandoned, deferrals, pulsedAt, pulsedFor, bridgeAt } = rest
  return {
    agentId,
    projectId,
    epoch,
    actedFor,
    abandoned,
    deferrals,
    pulsedAt,
    pulsedFor,
    bridgeAt,
    inFlight:
      mode === null || since === null
        ? null
        : {
            mode: mode as RecoveryMode,
            since,
            // A gateway before this field has ordered it.
            deadlineAt: deadlineAt ?? since + settingDefaults.bootTimeoutSeconds * 1_000,
            begunAt,
            sessionId,
            evidence: JSON.parse(evidence ?? '{}') as JsonObject,
          },
    acts: JSON.parse(acts) as Recovery['acts'],
    parked:
      parkedUntil === null
        ? null
        : {
            since: parkedSince ?? parkedUntil,
            until: parkedUntil,
            isOpen: parkedOpen === 1,
            reason: parkedReason as ParkedReason,
            detail: parkedDetail,
          },
    decision: decision === null ? null : (JSON.parse(decision) as JsonObject),
    bridge: bridge === null ? null : (JSON.parse(bridge) as BridgeAccount),
  }
}

/** Until when an agent is parked, ms since the epoch; null: it is not. The time may be over. */
export async function parkedUntilOf(db: Reader, agentId: string): Promise<number | null> {
  return (await db.get(parkedOf, { agentId }))?.until ?? null
}
