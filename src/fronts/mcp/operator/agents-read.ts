import { z } from 'zod'
import type { JsonObject } from '../../../lib/json.ts'
import type { PresentAgentView } from '../../rest/agents/view.ts'
import { address } from '../../rest/fields.ts'
import type { RecoveryView } from '../../rest/recovery/view.ts'
import { type AskApi, pathPart } from '../ask-api.ts'
import { compact } from '../tools/compact.ts'
import { counted } from '../tools/counted.ts'
import { pageSize, pageToken } from '../tools/fields.ts'
import { nextPageToken } from '../tools/outputs.ts'
import { reads } from '../tools/tool.ts'
import { operatorTool } from './operator-tool.ts'

const limitDefault = 20
/** The newest tasks and the first claims that are looked through for what agents work on. */
const worksMax = 100

const shownAgent = z.looseObject({
  handle: z.string(),
  presence: z.string().optional().describe('idle, active, waitingOnApproval, userTyping, unknown'),
  surface: z.string().optional().describe('The harness of its live session; absent: it has none'),
  lastSeenAt: z.string().optional(),
  route: z.looseObject({}).optional().describe('The way that wakes it, and whether that was proved; absent: none'),
  waiting: z.looseObject({}).optional().describe('Unread mail that may wake it, and its open tasks; absent: nothing'),
  worksOn: z.array(z.looseObject({})).optional().describe('Its tasks in the state working, and its claims'),
  parked: z.looseObject({}).optional().describe('Its harness is at a limit'),
  gate: z.looseObject({}).optional().describe('What recovery may do for it; absent: its usual work'),
})

export const agentsRead = operatorTool({
  name: 'agents_read',
  scopes: ['read'],
  title: 'Agents at a glance',
  description:
    'Lists the agents of the project: whether they are there (presence, surface), how they are woken (route), what waits for them, what they work on, and what keeps them from working (parked, gate). With agent only one, and what recovery has decided for it. An agent without a surface has no live session: its mail waits, and route says whether anything can wake it.',
  input: z.strictObject({
    agent: address.describe('Only this one: @donna').optional(),
    limit: pageSize(50, limitDefault),
    pageToken,
  }),
  output: z.looseObject({
    agents: z.array(shownAgent),
    worksOnMore: z.boolean().optional().describe('There is more work than was looked through: name an agent'),
    nextPageToken,
  }),
  annotations: reads,
  quotes: true,
  say: ({ agents }) => `${counted(agents.length, 'agent')}.`,
  run: async ({ rest }, { agent, limit = limitDefault, pageToken: after }) => {
    if (agent !== undefined) return readOne(rest, agent)
    const page = { limit, pageToken: after }
    const { agents, nextPageToken: next } = await rest('GET /v1/agents', { query: page })
    // Both lists are in the order of the handles.
    const { recovery } = await rest('GET /v1/recovery', { query: page })
    const { of, isMore } = await readWork(rest)
    const byHandle = new Map(recovery.map((one) => [one.agent, one]))
    return {
      agents: agents.map((one) => shortAgent(one, byHandle.get(one.handle), of(one.handle))),
      ...(isMore ? { worksOnMore: true } : {}),
      ...(next === '' ? {} : { nextPageToken: next }),
    }
  },
})

type Rest = AskApi['rest']

async function readOne(rest: Rest, agent: string): Promise<JsonObject> {
  pathPart('agent', agent)
  const one = await rest('GET /v1/agents/:handle', { params: { handle: agent } })
  const { handle } = one
  const [recovery] = (await rest('GET /v1/recovery', { query: { agent: handle } })).recovery
  const { of, isMore } = await readWork(rest, handle)
  const { decision, inFlight, actsLastHour, abandoned, bridge, candidates } = recovery!
  const acted = compact({ decision, inFlight, actsLastHour, abandoned, bridge, candidates })
  return {
    agents: [{ ...shortAgent(one, recovery, of(handle)), recovery: acted }],
    ...(isMore ? { worksOnMore: true } : {}),
  }
}

function shortAgent(
  agent: PresentAgentView,
  recovery: RecoveryView | undefined,
  worksOn: readonly JsonObject[],
): JsonObject {
  const { handle, displayName, presence, session, lastSeenAt } = agent
  const { route = null, waiting = null, parked = null, gate } = recovery ?? {}
  const isShut = gate !== undefined && (gate.nudges !== 'enabled' || gate.restarts === 'tripped')
  const { nudges, restarts, reason } = gate ?? {}
  return compact({
    handle,
    displayName,
    presence: presence.state,
    surface: session?.surface ?? null,
    lastSeenAt,
    route: route && compact(route),
    waiting,
    worksOn,
    parked: parked && compact(parked),
    gate: isShut ? compact({ nudges, restarts, reason }) : null,
  })
}

/** The work of the agents of the project, or of one of them. */
async function readWork(rest: Rest, agent?: string) {
  const tasks = await rest('GET /v1/tasks', {
    query: { state: 'working', agent, pageSize: worksMax, historyLength: 0 },
  })
  const claims = await rest('GET /v1/claims', { query: { owner: agent, limit: worksMax } })
  const works = new Map<string, JsonObject[]>()
  const add = (who: string, work: JsonObject) => works.set(who, [...(works.get(who) ?? []), work])
  for (const { id, assignee, originator, status } of tasks.tasks) {
    add(assignee, { taskId: id, originator, since: status.timestamp })
  }
  const known = new Set(tasks.tasks.map(({ id }) => id))
  for (const { ref, owner, claimedAt, stale } of claims.claims) {
    if (!known.has(ref)) add(owner, { claim: ref, since: claimedAt, ...(stale ? { stale } : {}) })
  }
  return {
    of: (who: string) => works.get(who) ?? [],
    isMore: tasks.nextPageToken !== '' || claims.nextPageToken !== '',
  }
}
