import type { Io } from '../../client/io.ts'
import { knownSurface, surfaceOfName } from '../../fronts/mcp/surface-of-name.ts'
import type { ClientInfo } from './client-message.ts'

/** What harnesses set in the environment of the programs that they start. */
const byVariable: readonly (readonly [variable: string, surface: string])[] = [
  ['CLAUDECODE', 'claude_code'],
  ['OPENCODE', 'opencode'],
  ['GEMINI_CLI', 'gemini'],
  ['QWEN_CODE', 'qwen'],
  ['CURSOR_TRACE_ID', 'cursor'],
]

/**
 * Returns the surface of a session: from the user's variable, otherwise from the name of the client, otherwise from the variables of the
 * harness. The client's name comes before those, because a harness that runs inside another one inherits its variables. Pure. Source: S2-16.
 */
export function surfaceOfClient(env: Io['env'], client: ClientInfo | undefined): string {
  const configured = env.ROUSE_AGENT_SURFACE?.trim()
  if (configured) return configured
  const known = client && knownSurface(client.name)
  const set = byVariable.find(([variable]) => Boolean(env[variable]))
  return known ?? set?.[1] ?? surfaceOfName(client?.name ?? '')
}
