import type { AdapterRow } from '../adapter.ts'
import type { AdapterId } from './ids.ts'

/** Every adapter, loaded when it is used. One that is added is a folder and a line here. */
export const adapters: Readonly<Record<AdapterId, () => Promise<AdapterRow>>> = {
  codex: async () => (await import('./codex/row.ts')).codex,
  qwen: async () => (await import('./qwen/qwen-adapter.ts')).qwenRow,
  acp: async () => (await import('./acp/acp-adapter.ts')).acpRow,
  tmux: async () => (await import('./tmux/tmux-adapter.ts')).tmuxRow,
  osascript: async () => (await import('./osascript/osascript-adapter.ts')).osascriptRow,
  exec: async () => (await import('./exec/exec-adapter.ts')).execRow,
  opencode: async () => (await import('./opencode/row.ts')).row,
  claude: async () => (await import('./claude/row.ts')).claudeRow,
  copilot: async () => (await import('./copilot/row.ts')).copilotRow,
}
