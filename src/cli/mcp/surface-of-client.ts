import type { Io } from '../io.ts'
import type { ClientInfo } from './client-message.ts'

/** The names that MCP clients give themselves. The first that matches counts. */
const byName: readonly (readonly [name: RegExp, surface: string])[] = [
  [/^claude-code\b/i, 'claude_code'],
  [/^claude-ai\b|^claude desktop/i, 'claude_desktop'],
  [/^codex/i, 'codex'],
  [/^opencode/i, 'opencode'],
  [/^cursor/i, 'cursor'],
  [/^gemini/i, 'gemini'],
  [/^qwen/i, 'qwen'],
  [/copilot/i, 'copilot'],
  [/^visual studio code|^vscode/i, 'vscode'],
]

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
  const known = byName.find(([name]) => client !== undefined && name.test(client.name))
  const set = byVariable.find(([variable]) => Boolean(env[variable]))
  return known?.[1] ?? set?.[1] ?? (slugOf(client?.name ?? '') || 'mcp')
}

function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9_.-]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 60)
}
