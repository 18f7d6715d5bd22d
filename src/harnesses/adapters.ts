import type { AdapterRow, Adapters } from '../bridge/adapter.ts'
import { harnesses } from './harnesses.ts'

/** The ways into any harness: of a terminal, a window, a protocol, a command. */
const generic = {
  acp: async () => (await import('./generic/acp/acp-adapter.ts')).acpRow,
  tmux: async () => (await import('./generic/tmux/tmux-adapter.ts')).tmuxRow,
  osascript: async () => (await import('./generic/osascript/osascript-adapter.ts')).osascriptRow,
  exec: async () => (await import('./generic/exec/exec-adapter.ts')).execRow,
} satisfies Record<string, () => Promise<AdapterRow>>

/** The adapters of the bridge: those of harnesses, and the generic ones. */
export const adapters: Adapters = {
  ...Object.fromEntries(harnesses.flatMap(({ id, adapter }) => (adapter ? [[id, adapter]] : []))),
  ...generic,
}
