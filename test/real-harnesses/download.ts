import { isClaudeWanted, program } from './programs.ts'

/** Before all tests: two files at the same time would download a program twice, into one place. */
export default function download(): void {
  for (const name of ['codex', 'opencode', 'qwen'] as const) program(name)
  if (isClaudeWanted()) program('claude')
}
