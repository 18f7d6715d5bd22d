import type { Reader } from '../../storage/database.ts'
import type { Session } from '../sessions/session.ts'
import { listLiveSessions } from '../sessions/session-store.ts'
import type { Agent } from './agent.ts'
import { findAgentById } from './agent-store.ts'

/** The short address of a session: `s` and the last six characters of its id. Source: S4-3. */
const technicalPattern = /^s[0-9a-f]{6,12}$/

/** Whether an address has the form of a technical id or of a whole session id. */
export function namesSession(address: string): boolean {
  return technicalPattern.test(address) || /^[a-z_:]*[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(address)
}

/** Finds the agents of a project whose live session has the address as its id or as a capability. Source: S4-3, S4-4. */
export async function findRole(reader: Reader, projectId: string, address: string): Promise<Agent[]> {
  const wanted = address.toLowerCase()
  const sessions = await listLiveSessions(reader, projectId)
  const named = namesSession(wanted) ? sessions.filter((session) => isNamed(session, wanted)) : []
  const chosen = named.length > 0 ? named : sessions.filter((session) => canDo(session, wanted))
  const agents = await Promise.all(chosen.map(({ agentId }) => findAgentById(reader, agentId)))
  return agents.filter((agent) => agent !== undefined)
}

/** A technical id may have more than six characters, to tell two sessions with the same end apart. */
function isNamed({ id }: Session, wanted: string): boolean {
  const whole = id.toLowerCase()
  return whole === wanted || (technicalPattern.test(wanted) && whole.endsWith(wanted.slice(1)))
}

function canDo({ capabilities }: Session, wanted: string): boolean {
  return capabilities.some((capability) => capability.toLowerCase() === wanted)
}
