/** The description of a surface: the kind of harness that a session speaks from. */
interface Surface {
  /** The names that its clients of MCP give themselves. */
  readonly clients: RegExp
  /** True when a wake brings mail to it, so that an answer carries only what no wake brings. Source: S2-13. */
  readonly isWoken?: true
  /** The name of its harness in the sources of receipts; absent: the bridge has no way of its own into it. */
  readonly harness?: string
}

/** The surfaces that the gateway knows. Any other is named by its sessions, and piggybacks. Source: S2-16. */
export const surfaces: Readonly<Record<string, Surface>> = {
  claude_code: { clients: /^claude-code\b/i, isWoken: true, harness: 'claude' },
  claude_desktop: { clients: /^claude-ai\b|^claude desktop/i },
  codex: { clients: /^codex/i, isWoken: true, harness: 'codex' },
  opencode: { clients: /^opencode/i, harness: 'opencode' },
  cursor: { clients: /^cursor/i },
  gemini: { clients: /^gemini/i },
  qwen: { clients: /^qwen/i, harness: 'qwen' },
  copilot: { clients: /copilot/i, harness: 'copilot' },
  vscode: { clients: /^visual studio code|^vscode/i },
}

/** The surface of a client that is known by the name it gives itself: the first that matches. Pure. */
export function knownSurface(name: string): string | undefined {
  return Object.entries(surfaces).find(([, { clients }]) => clients.test(name))?.[0]
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
