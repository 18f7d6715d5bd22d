import type { Reader } from '../../storage/database.ts'
import { type Addressee, listLive, type Viewer } from './addressee-store.ts'

/** The short address of a session: `s` and the last six characters of its id. Source: S4-3. */
const technicalPattern = /^s[0-9a-f]{6,12}$/

/** True when an address has the form of a technical id or of a whole session id. */
export function namesSession(address: string): boolean {
  return technicalPattern.test(address) || /^[a-z_:]*[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(address)
}

/**
 * Finds the agents of a project that the viewer knows and whose live session has the address as its id or as a capability.
 * Source: S4-3, S4-4.
 */
export async function findRole(
  reader: Reader,
  viewer: Viewer,
  projectId: string,
  address: string,
): Promise<Addressee[]> {
  const wanted = address.toLowerCase()
  const session = namesSession(wanted) ? endOfId(wanted) : ''
  const live = await listLive(reader, viewer, projectId, { session, capability: wanted })
  const named = session === '' ? [] : live.filter(({ sessionId }) => isNamed(sessionId.toLowerCase(), wanted))
  const chosen = named.length > 0 ? named : live.filter(({ capabilities }) => canDo(capabilities, wanted))
  return chosen.map(({ addressee }) => addressee)
}

/** A technical id may have more than six characters, to tell two sessions with the same end apart. */
function isNamed(id: string, wanted: string): boolean {
  return id === wanted || (technicalPattern.test(wanted) && id.endsWith(endOfId(wanted)))
}

function endOfId(wanted: string): string {
  return technicalPattern.test(wanted) ? wanted.slice(1) : wanted
}

function canDo(capabilities: readonly string[], wanted: string): boolean {
  return capabilities.some((capability) => capability.toLowerCase() === wanted)
}
