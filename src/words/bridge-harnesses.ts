/** The harnesses that the bridge reaches, the strongest proof first. The name of one is what a peer may read of a `source`. */
export const bridgeHarnesses = [
  'codex',
  'opencode',
  'claude',
  'qwen',
  'copilot',
  'acp',
  'tmux',
  'osascript',
  'exec',
] as const
export type BridgeHarness = (typeof bridgeHarnesses)[number]
