import { identitiesOf } from '../../../registry/agents/identity.ts'
import { listTripped, readGates } from '../../../registry/recovery/gate-store.ts'
import { isParked } from '../../../registry/recovery/recovery.ts'
import { findRecovery, listParked } from '../../../registry/recovery/recovery-store.ts'
import type { Reader } from '../../../storage/database.ts'
import { listWithheld } from '../../../turns/turn-store.ts'
import { instant, instantOrNull } from '../instant.ts'
import type { NeedFields } from './view.ts'
import { agentsMax, type NeedReader, ofOneEach, type WaitingNeed } from './waiting.ts'

/** Reads the needs of which an agent has one of each kind: its gate, its park and its caps. */
export async function agentNeeds(reader: NeedReader): Promise<WaitingNeed[]> {
  const reads = [gateNeeds, parkNeeds, capNeeds]
  return ofOneEach((await Promise.all(reads.map((read) => read(reader)))).flat())
}

async function gateNeeds({ db, caller, now }: NeedReader): Promise<NeedFields[]> {
  const { kind, id, identity, projectId } = caller
  const isTripped = (gate: { readonly nudges: string; readonly restarts: string }) =>
    gate.nudges === 'tripped' || gate.restarts === 'tripped'
  const { project, effective } = await readGates(db, projectId, kind === 'agent' ? id : '')
  if (kind === 'agent' || !project) {
    const agent = kind === 'agent' ? identity : null
    return isTripped(effective) ? [gateNeed(agent, effective.since ?? now, effective.reason)] : []
  }
  const tripped = await listTripped(db, projectId, agentsMax)
  const name = await identities(db, tripped)
  return tripped.map(({ agentId, since, reason }) => gateNeed(agentId === '' ? null : name(agentId), since, reason))
}

function gateNeed(agent: string | null, since: number, reason: string | null): NeedFields {
  return { kind: 'gate', agent, since: instant(since), text: reason ?? 'Recovery has stopped by itself.' }
}

async function parkNeeds({ db, caller, now }: NeedReader): Promise<NeedFields[]> {
  const { kind, id, projectId } = caller
  const found =
    kind === 'operator' ? await listParked(db, projectId, now, agentsMax) : [await findRecovery(db, id, projectId)]
  const parked = found.filter((recovery) => isParked(recovery, now))
  const identity = await identities(db, parked)
  return parked.map(({ agentId, parked: limit }) => {
    const { since, until, isOpen, reason, detail } = limit!
    return {
      kind: 'parked',
      agent: identity(agentId),
      since: instant(since),
      text: detail === null ? reason : `${reason}: ${detail}`,
      until: isOpen ? null : instant(until),
    }
  })
}

/** Turns that caps withhold: what waits for them goes as one digest. */
async function capNeeds({ db, caller, now }: NeedReader): Promise<NeedFields[]> {
  const { kind, id, projectId } = caller
  const withheld = await listWithheld(db, { projectId, agentId: kind === 'agent' ? id : '' }, now, agentsMax)
  // The wait that ends last says when all of it is over.
  const ofAgents = [...new Map(withheld.toReversed().map((turn) => [turn.agentId, turn])).values()]
  const identity = await identities(db, ofAgents)
  return ofAgents.map(({ agentId, startedAt, endedAt, detail, senders }) => {
    const whose = { sender: `for ${senders.join(', ')}`, thread: 'in one thread' }[detail ?? ''] ?? 'in all'
    const text = `It has had as many turns ${whose} as the gate allows. The rest waits, and goes as one digest.`
    return { kind: 'capped', agent: identity(agentId), since: instant(startedAt), text, until: instantOrNull(endedAt) }
  })
}

const identities = (db: Reader, rows: readonly { readonly agentId: string }[]) =>
  identitiesOf(
    db,
    rows.map(({ agentId }) => agentId),
  )
