import type { Io } from '../../client/io.ts'
import type { Harness } from '../../harnesses/harness.ts'
import { harnesses, saidIn } from '../../harnesses/harnesses.ts'
import { knownSurface, surfaceOfName } from '../../words/surfaces.ts'
import type { ClientInfo } from './client-message.ts'

/**
 * Returns the surface of a session: from the user's variable, otherwise from the name of the client, otherwise from the variables of the
 * harness. The client's name comes before those, because a harness that runs inside another one inherits its variables. Pure. Source: S2-16.
 */
export function surfaceOfClient(env: Io['env'], client: ClientInfo | undefined): string {
  const configured = env.ROUSE_AGENT_SURFACE?.trim()
  if (configured) return configured
  const named = client && harnesses.find(({ clientName }) => clientName?.test(client.name))
  const known = named?.surface ?? (client && knownSurface(client.name))
  return known ?? saidIn(env, 'mark')[0]?.harness.surface ?? surfaceOfName(client?.name ?? '')
}

/** Returns the harness of a surface; undefined when it is none that is known. */
export function harnessOfSurface(surface: string): Harness | undefined {
  return harnesses.find((harness) => harness.surface === surface)
}
