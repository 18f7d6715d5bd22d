import type { Reader } from '../../storage/database.ts'
import { lateFilter, p, type SQL, sql, statement } from '../../storage/statement.ts'
import type { Caller } from '../callers/caller.ts'
import type { Agent } from './agent.ts'
import { agents } from './agent-row.ts'

/** The agent that an address names, with the fields that decide if and how a message reaches it. */
export type Addressee = Pick<Agent, 'id' | 'projectId' | 'handle' | 'contactPolicy' | 'defaultWakePolicy'>

/** The viewer: without `seesAll` it knows only agents that have granted it something, beside those that are not private. */
export interface Viewer {
  readonly callerId: string
  readonly seesAll: boolean
}

interface LiveRow extends Addressee {
  sessionId: string
  capabilities: string
}

/** An agent with the live session that may have the address. */
interface Live {
  readonly addressee: Addressee
  readonly sessionId: string
  readonly capabilities: readonly string[]
}

const columns = agents.select('a', 'id', 'projectId', 'handle', 'contactPolicy', 'defaultWakePolicy')
const hasGranted: SQL = sql`exists (select 1 from permission g where g.grantor_id = a.id and g.grantee_id = ${p('callerId')})`
const byName = statement<{ projectId: string; name: string; callerId: string; seesAll: number }, Addressee>(
  sql`select ${columns} from agent_name n join agent a on a.id = n.agent_id
    where n.project_id = ${p('projectId')} and n.name = ${p('name')}
      and (a.access <> 'private' or cast(${p('seesAll')} as integer) = 1 or ${hasGranted})`,
)
const everybody = statement<{ projectId: string }, Addressee>(
  sql`select ${columns} from agent a where a.project_id = ${p('projectId')} order by a.handle`,
)
const acceptingInProject = statement<{ projectId: string; callerId: string }, Addressee>(
  sql`select ${columns} from agent a
    where a.project_id = ${p('projectId')} and (a.contact_policy = 'everybody' or a.id = ${p('callerId')}
      or exists (select 1 from permission g
        where g.grantor_id = a.id and g.grantee_id = ${p('callerId')} and g.scope = 'CAN_REPLY_TO'))
    order by a.handle`,
)
const grantingReplies = statement<{ projectId: string; callerId: string }, Addressee>(
  sql`select ${columns} from permission g join agent a on a.id = g.grantor_id
    where g.grantee_id = ${p('callerId')} and g.scope = 'CAN_REPLY_TO' and ${lateFilter(sql`a.project_id = ${p('projectId')}`)}
    order by a.handle`,
)

interface AddresseePatterns {
  projectId: string
  /** Patterns for the id of a session, and for its capabilities in lower case. */
  session: string
  capability: string
}

const mayBeSought: SQL = sql`(s.id like ${p('session')} escape '!' or lower(s.capabilities) like ${p('capability')} escape '!')`
const liveInProject = statement<AddresseePatterns, LiveRow>(
  sql`select ${columns}, s.id as "sessionId", s.capabilities from session s join agent a on a.id = s.agent_id
    where s.project_id = ${p('projectId')} and s.ended_at is null and ${lateFilter(mayBeSought)}`,
)
const liveOfGrantors = statement<AddresseePatterns & { callerId: string }, LiveRow>(
  sql`select ${columns}, s.id as "sessionId", s.capabilities from session s join agent a on a.id = s.agent_id
    where s.agent_id in (select grantor_id from permission where grantee_id = ${p('callerId')}) and s.ended_at is null
      and ${lateFilter(sql`s.project_id = ${p('projectId')} and ${mayBeSought}`)}`,
)

/** Finds the agent with a handle, an alias or a display name that is an address (`@donna`), if the viewer may know of it. */
export function findAddressee(
  db: Reader,
  { callerId, seesAll }: Viewer,
  projectId: string,
  name: string,
): Promise<Addressee | undefined> {
  return db.get(byName, { projectId, name, callerId, seesAll: seesAll ? 1 : 0 })
}

/** Lists the agents of a project, for one of its operators. */
export function listEverybody(db: Reader, projectId: string): Promise<Addressee[]> {
  return db.all(everybody, { projectId })
}

/**
 * Lists the agents of a project that accept mail of an agent. Of another project than its own, only what has granted it CAN_REPLY_TO
 * is read: a stranger reads nothing, however many agents there are.
 */
export function listAccepting(db: Reader, caller: Caller, projectId: string): Promise<Addressee[]> {
  const statement = projectId === caller.projectId ? acceptingInProject : grantingReplies
  return db.all(statement, { projectId, callerId: caller.id })
}

/**
 * Lists the agents of a project whose live session may have an id or a capability. The caller compares: the patterns are only rough.
 * @param session a part of the id that ends it; `''`: no session is meant by its id
 */
export async function listLive(
  db: Reader,
  { callerId, seesAll }: Viewer,
  projectId: string,
  { session, capability }: { readonly session: string; readonly capability: string },
): Promise<Live[]> {
  const sought = {
    projectId,
    session: session === '' ? '' : `%${session}`,
    capability: `%${rough(JSON.stringify(capability.toLowerCase()))}%`,
  }
  const rows = seesAll ? await db.all(liveInProject, sought) : await db.all(liveOfGrantors, { ...sought, callerId })
  return rows.map(({ sessionId, capabilities, ...addressee }) => ({
    addressee,
    sessionId,
    capabilities: JSON.parse(capabilities) as string[],
  }))
}

/**
 * The beginning of a text as a part of a pattern for `like … escape '!'`. It ends before a letter other than A to Z, of which the engines
 * know different lower cases: a pattern with a wildcard for each of them could take long to compare.
 */
function rough(text: string): string {
  return /^[\x20-\x7e]*/.exec(text)![0].replace(/[!%_]/g, '!$&')
}
