import { expect, test } from 'vitest'
import { surfaceOfClient } from '../../../src/cli/mcp/surface-of-client.ts'

// S2-16
test.each([
  [{}, 'claude-code', 'claude_code'],
  [{}, 'claude-ai', 'claude_desktop'],
  [{}, 'codex-mcp-client', 'codex'],
  [{}, 'opencode', 'opencode'],
  [{}, 'cursor-vscode', 'cursor'],
  [{}, 'Visual Studio Code', 'vscode'],
  [{}, 'My Own Client!', 'my_own_client'],
  [{}, '…', 'mcp'],
  [{}, undefined, 'mcp'],
  [{ CLAUDECODE: '1' }, undefined, 'claude_code'],
  [{ CLAUDECODE: '1' }, 'an-sdk', 'claude_code'],
  [{ CLAUDECODE: '1' }, 'codex-mcp-client', 'codex'],
  [{ OPENCODE: '1' }, 'mcp', 'opencode'],
  [{ ROUSE_AGENT_SURFACE: ' mine ' }, 'claude-code', 'mine'],
])('%j and the client %s → %s', (env, name, surface) => {
  expect(surfaceOfClient(env, name === undefined ? undefined : { name })).toBe(surface)
})
