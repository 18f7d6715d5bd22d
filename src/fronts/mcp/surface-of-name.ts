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

/** The surface of a client that is known by the name it gives itself. Pure. */
export function knownSurface(name: string): string | undefined {
  return byName.find(([pattern]) => pattern.test(name))?.[1]
}

/** Returns the surface of a client: a known one, otherwise one made from its name, otherwise `mcp`. Pure. Source: S2-16. */
export function surfaceOfName(name: string): string {
  return knownSurface(name) ?? (slugOf(name) || 'mcp')
}

function slugOf(name: string): string {
  return name
    .slice(0, 200)
    .toLowerCase()
    .replace(/[^a-z0-9_.-]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 60)
}
