import type { Io } from '../../client/io.ts'
import { type Check, ok, unknown } from '../../harnesses/check.ts'
import type { Harness } from '../../harnesses/harness.ts'
import { type Connection, readConnections } from '../mcp/connections.ts'

/** A harness's last connection to `rouse mcp` with a profile. */
export interface LastConnection extends Connection {
  readonly profile: string
}

const name = 'last connection'

/** The last connection of a harness with each of these profiles, as `rouse mcp` has noted it. */
export function lastConnections(
  env: Io['env'],
  { surface }: Harness,
  profiles: readonly (string | undefined)[],
): LastConnection[] {
  return profiles.flatMap((profile) => {
    const connection = profile === undefined ? undefined : readConnections(env, profile).get(surface)
    return profile === undefined || connection === undefined ? [] : [{ ...connection, profile }]
  })
}

/** What the connections say. None is no fault: the harness has not run since. */
export function connectionChecks(connections: readonly LastConnection[]): Check[] {
  if (connections.length === 0)
    return [unknown(name, 'none yet: the harness has not run since rouse mcp was installed')]
  return connections.map(({ client, era, protocolVersion, channel, listens, sessionId, profile, at }) => {
    const listening = listens === undefined ? [] : [`listens: ${listens.join(', ') || 'nothing'}`]
    const session = sessionId === undefined ? 'no session' : sessionId
    const parts = [`${client} at ${at}`, `era ${era} (MCP ${protocolVersion})`, `channel: ${channel}`, ...listening]
    return ok(name, [...parts, session, `profile ${profile}`].join('; '))
  })
}
