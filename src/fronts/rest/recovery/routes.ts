import { beginAct, type Order, reportAct, reportBridge } from '../../../recovery/acts.ts'
import { changeGate, type GateContext } from '../../../recovery/change-gate.ts'
import { checkEveryMs } from '../../../recovery/check.ts'
import { findingsOf } from '../../../recovery/evidence.ts'
import { endPark, park } from '../../../recovery/parking.ts'
import { readFacts } from '../../../recovery/read-facts.ts'
import { listAgentsAfter } from '../../../registry/agents/agent-store.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import { readGates } from '../../../registry/recovery/gate-store.ts'
import { isParked } from '../../../registry/recovery/recovery.ts'
import { findRecovery } from '../../../registry/recovery/recovery-store.ts'
import { instant } from '../instant.ts'
import { type NamedAgent, namedAgent, oneAgent } from '../named-agent.ts'
import { pageOf } from '../page.ts'
import { route } from '../route.ts'
import { accountInput, actInput, agentQuery, gateInput, parkInput, reportInput } from './input.ts'
import { gatesView, type HeartbeatView, parkedView, type RecoveryView, recoveryView } from './view.ts'

const limitDefault = 50

/** `/v1/recovery`, `/v1/heartbeat`, `/v1/gate`, `/v1/parked`. Source: S1-42, S3-9…S3-11, D50. */
export const recoveryRoutes = [
  route('GET /v1/recovery', {
    name: 'recovery.list',
    what: 'see what recovery does',
    access: { scope: 'read', operator: 'any', agent: 'own', peer: 'never', audited: 'no' },
    query: agentQuery,
    handle: async ({ caller, query }, { recovery }) => {
      const { items, nextPageToken } = await agentsOf(recovery, caller, query)
      return { recovery: await inTurn(items, (agent) => viewOf(recovery, agent)), nextPageToken }
    },
  }),
  route('GET /v1/heartbeat', {
    name: 'recovery.heartbeat',
    what: 'see the heartbeat',
    access: { scope: 'read', operator: 'any', agent: 'own', peer: 'never', audited: 'no' },
    query: agentQuery,
    handle: async ({ caller, query }, { recovery }) => {
      const { items, nextPageToken } = await agentsOf(recovery, caller, query)
      const heartbeats = await inTurn(items, (agent) => heartbeatOf(recovery, agent))
      return { intervalSeconds: checkEveryMs / 1_000, heartbeats, nextPageToken }
    },
  }),
  route('GET /v1/gate', {
    name: 'gate.read',
    what: 'read the gate',
    access: { scope: 'read', operator: 'any', agent: 'own', peer: 'never', audited: 'no' },
    query: agentQuery.pick({ agent: true }),
    handle: async ({ caller, query }, { recovery: { db } }) => {
      const agent = await namedAgent(db, caller, query.agent)
      return gatesView(await readGates(db, caller.projectId, agent?.id ?? ''), agent?.handle)
    },
  }),
  route('PATCH /v1/gate', {
    name: 'gate.change',
    what: 'change the gate',
    access: { scope: 'manage', operator: 'any', agent: 'never', peer: 'never', audited: 'first' },
    body: gateInput,
    handle: async ({ caller, body, reply }, { recovery }) => {
      const agent = await namedAgent(recovery.db, caller, body.agent)
      if (agent) reply.target = agent.handle
      return gatesView(await changeGate(recovery, caller, { ...body, agent }), agent?.handle)
    },
  }),
  route('GET /v1/parked', {
    name: 'parked.read',
    what: 'see whether an agent is parked',
    access: { scope: 'read', operator: 'any', agent: 'own', peer: 'never', audited: 'no' },
    query: agentQuery.pick({ agent: true }),
    handle: async ({ caller, query }, { recovery: { db, clock } }) => {
      const agent = await oneAgent(db, caller, query.agent)
      const found = await findRecovery(db, agent.id, agent.projectId)
      return { agent: agent.handle, parked: isParked(found, clock.now()) ? parkedView(found.parked!) : null }
    },
  }),
  route('PUT /v1/parked', {
    name: 'parked.set',
    what: 'park an agent',
    access: { scope: 'work', operator: 'never', agent: 'own', peer: 'never', audited: 'soon' },
    body: parkInput,
    handle: async ({ caller, body }, { recovery }) => ({
      agent: caller.identity,
      parked: parkedView(await park(recovery, caller, body)),
    }),
  }),
  route('DELETE /v1/parked', {
    name: 'parked.end',
    what: 'end the park of an agent',
    access: { scope: 'work', operator: 'any', agent: 'own', peer: 'never', audited: 'soon' },
    query: agentQuery.pick({ agent: true }),
    status: 204,
    handle: async ({ caller, query, reply }, { recovery }) => {
      const agent = await oneAgent(recovery.db, caller, query.agent)
      reply.target = agent.handle
      await endPark(recovery, agent, caller.identity)
    },
  }),
  route('PUT /v1/recovery/bridge', {
    name: 'recovery.account',
    what: 'report for a bridge',
    access: { scope: 'work', operator: 'never', agent: 'own', peer: 'never', audited: 'no' },
    body: accountInput,
    handle: async ({ caller, body }, { recovery: context }) => {
      const { order, gate, recovery } = await reportBridge(context, caller, body)
      const { nudges, restarts } = gate
      const parked = isParked(recovery, context.clock.now()) ? parkedView(recovery.parked!) : null
      return { order: order && orderView(order), gate: { nudges, restarts }, parked }
    },
  }),
  route('POST /v1/recovery/acts', {
    name: 'recovery.begin',
    what: 'begin a restart',
    access: { scope: 'work', operator: 'never', agent: 'own', peer: 'never', audited: 'soon' },
    body: actInput,
    handle: async ({ caller, body }, { recovery }) => orderView(await beginAct(recovery, caller, body.epoch)),
  }),
  route('POST /v1/recovery/acts/:epoch/report', {
    name: 'recovery.report',
    what: 'report a restart',
    access: { scope: 'work', operator: 'never', agent: 'own', peer: 'never', audited: 'soon' },
    body: reportInput,
    handle: async ({ caller, params, body }, { recovery }) => {
      await reportAct(recovery, caller, Number(params.epoch), body)
      return { epoch: Number(params.epoch), outcome: body.outcome }
    },
  }),
] as const

function orderView({ epoch, inFlight, deadlineAt, originSessionId }: Order) {
  return {
    epoch,
    mode: inFlight.mode,
    reason: 'session_gone' as const,
    orderedAt: instant(inFlight.since),
    deadlineAt: instant(deadlineAt),
    ...(originSessionId === null ? {} : { originSessionId }),
  }
}

async function viewOf(context: GateContext, agent: NamedAgent): Promise<RecoveryView> {
  const { db, clock } = context
  const facts = await readFacts(context, db, agent, { now: clock.now(), trouble: null, staleRounds: 0 })
  return recoveryView(agent.handle, facts.recovery, { ...facts, candidates: findingsOf(facts) })
}

async function heartbeatOf(context: GateContext, agent: NamedAgent): Promise<HeartbeatView> {
  const { db, clock } = context
  const facts = await readFacts(context, db, agent, { now: clock.now(), trouble: null, staleRounds: 0 })
  const { route, recovery } = facts
  const bypassedBy = route?.isProven
    ? { subscriptionId: route.subscriptionId, harnessTarget: route.harnessTarget }
    : null
  const lastPulseAt = recovery.pulsedAt === null ? null : instant(recovery.pulsedAt)
  return { agent: agent.handle, bypassedBy, lastPulseAt }
}

/** One agent after the other: each costs some queries, and a page has many. */
async function inTurn<Item, View>(items: readonly Item[], view: (item: Item) => Promise<View>): Promise<View[]> {
  const views: View[] = []
  for (const item of items) views.push(await view(item))
  return views
}

/** The agents that a caller sees: itself, one that the operator names, or a page of the project. */
async function agentsOf(
  { db }: GateContext,
  caller: Caller,
  query: {
    readonly agent?: string | undefined
    readonly limit?: number | undefined
    readonly pageToken?: string | undefined
  },
): Promise<{ items: readonly NamedAgent[]; nextPageToken: string | null }> {
  if (caller.kind === 'agent' || query.agent !== undefined) {
    return { items: [await oneAgent(db, caller, query.agent)], nextPageToken: null }
  }
  const { limit = limitDefault, pageToken = '' } = query
  const found = await listAgentsAfter(db, caller.projectId, pageToken, limit + 1)
  return pageOf(found, limit, ({ handle }) => handle)
}
