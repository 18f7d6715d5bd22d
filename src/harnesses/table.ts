// Every harness. A new one is a folder, and a line here.
export { claude } from './claude/harness.ts'
export { codex } from './codex/harness.ts'
export { copilot } from './copilot/harness.ts'
export { cursor } from './cursor/harness.ts'
export { gemini } from './gemini/harness.ts'
export { opencode } from './opencode/harness.ts'
export { qwen } from './qwen/harness.ts'
