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
 * The surface of a session: what the environment of the user says, else what the client calls itself, else what the harness sets. A
 * client comes before a variable, because a harness that was started within another one inherits those. Pure. Source: S2-16.
 */
export function surfaceOfClient(env: Io['env'], client: ClientInfo | undefined): string {
  const told = env.ROUSE_AGENT_SURFACE?.trim()
  if (told) return told
  const known = client && knownSurface(client.name)
  const set = byVariable.find(([variable]) => Boolean(env[variable]))
  return known ?? set?.[1] ?? surfaceOfName(client?.name ?? '')
}
