import type { RowOf } from '../../storage/columns.ts'
import type { Reader, Transaction } from '../../storage/database.ts'
import { RowTable } from '../../storage/row-table.ts'
import { limited, p, sql, statement } from '../../storage/statement.ts'
import {
  type EffectiveGate,
  effectiveGate,
  type Gate,
  type GateState,
  gateFields,
  type RecoverySettings,
} from './gate.ts'

type Row = RowOf<typeof gateFields>

const gates = new RowTable('gate', gateFields)
const { columns } = gates
const ofProject = statement<{ projectId: string; agentId: string }, Row>(
  sql`select ${columns} from gate where project_id = ${p('projectId')} and agent_id in ('', ${p('agentId')})`,
)
const trippedIn = statement<{ projectId: string; limit: number }, Row>(
  sql`select ${columns} from gate where project_id = ${p('projectId')} and (nudges = 'tripped' or restarts = 'tripped')
    order by since ${limited}`,
)
const save =
  gates.insert(sql`on conflict (project_id, agent_id) do update set nudges = excluded.nudges, restarts = excluded.restarts,
  reason = excluded.reason, changed_by = excluded.changed_by, since = excluded.since, settings = excluded.settings`)
const remove = statement<{ projectId: string; agentId: string }>(
  sql`delete from gate where project_id = ${p('projectId')} and agent_id = ${p('agentId')}`,
)

const byState = statement<object, CountedGates>(
  sql`select 'nudges' as "gate", nudges as "state", count(*) as "count" from gate group by nudges
    union all select 'restarts', restarts, count(*) from gate group by restarts`,
)

/** Gates of projects and of agents that are in one state. */
interface CountedGates {
  readonly gate: 'nudges' | 'restarts'
  readonly state: GateState
  readonly count: number
}

/** Counts the gates of all projects by their states. */
export function countGates(db: Reader): Promise<CountedGates[]> {
  return db.all(byState, {})
}

/** The gates of a project and of an agent of it. */
export interface Gates {
  readonly project: Gate | undefined
  readonly agent: Gate | undefined
  readonly effective: EffectiveGate
}

/** Reads the gates that hold for an agent; with `''` only that of the project. */
export async function readGates(db: Reader, projectId: string, agentId: string): Promise<Gates> {
  const found = (await db.all(ofProject, { projectId, agentId })).map(fromRow)
  const project = found.find((gate) => gate.agentId === '')
  const agent = agentId === '' ? undefined : found.find((gate) => gate.agentId === agentId)
  return { project, agent, effective: effectiveGate(project, agent) }
}

/** Returns the gates of a project and of its agents that have tripped, the oldest first. */
export async function listTripped(db: Reader, projectId: string, limit: number): Promise<Gate[]> {
  return (await db.all(trippedIn, { projectId, limit })).map(fromRow)
}

export async function saveGate(tx: Transaction, { settings, ...gate }: Gate): Promise<void> {
  await tx.run(save, { ...gate, settings: Object.keys(settings).length === 0 ? null : JSON.stringify(settings) })
}

/** The gate of a new project: mail may be pointed at in a live session, and nothing is started. */
export function newGate(projectId: string, now: number): Gate {
  const state = { nudges: 'enabled', restarts: 'disabled' } as const
  return { projectId, agentId: '', ...state, reason: null, changedBy: '@gateway', since: now, settings: {} }
}

export async function deleteGateOf(tx: Transaction, projectId: string, agentId: string): Promise<void> {
  await tx.run(remove, { projectId, agentId })
}

/** A gate whose settings cannot be read is tripped. Source: S3-10. */
function fromRow({ settings, ...row }: Row): Gate {
  try {
    return { ...row, settings: settings === null ? {} : (JSON.parse(settings) as Partial<RecoverySettings>) }
  } catch {
    return { ...row, nudges: 'tripped', restarts: 'tripped', reason: 'The gate cannot be read.', settings: {} }
  }
}
