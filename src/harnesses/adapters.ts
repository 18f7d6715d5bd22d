import type { AdapterRow } from '../bridge/adapter.ts'
import type { AdapterId } from '../bridge/adapters/ids.ts'

/** Every adapter, loaded when it is used. One that is added is a folder and a line here. */
export const adapters: Readonly<Record<AdapterId, () => Promise<AdapterRow>>> = {
  codex: async () => (await import('./codex/adapter/row.ts')).codex,
  qwen: async () => (await import('./qwen/adapter/qwen-adapter.ts')).qwenRow,
  acp: async () => (await import('./generic/acp/acp-adapter.ts')).acpRow,
  tmux: async () => (await import('./generic/tmux/tmux-adapter.ts')).tmuxRow,
  osascript: async () => (await import('./generic/osascript/osascript-adapter.ts')).osascriptRow,
  exec: async () => (await import('./generic/exec/exec-adapter.ts')).execRow,
  opencode: async () => (await import('./opencode/adapter/row.ts')).row,
  claude: async () => (await import('./claude/adapter/row.ts')).claudeRow,
  copilot: async () => (await import('./copilot/adapter/row.ts')).copilotRow,
}
