/** The harnesses that the bridge reaches, the strongest proof first. */
export const adapterIds = [
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
export type AdapterId = (typeof adapterIds)[number]
