import { isJsonObject } from '../lib/json.ts'

/** A hook as `hooks/list` of Codex's app-server describes it. It runs only if it is trusted and enabled. */
export interface ListedHook {
  readonly command: string
  readonly trustStatus: string
  readonly enabled: boolean
}

/** Returns our hooks of an answer to `hooks/list`; undefined: it is no such answer. Pure. */
export function ownHooks(answer: unknown): ListedHook[] | undefined {
  if (!isJsonObject(answer) || !Array.isArray(answer.data)) return undefined
  const hooks = answer.data.flatMap((folder) => (folder as { hooks?: ListedHook[] }).hooks ?? [])
  return hooks.filter(({ command }) => / hook codex /.test(command))
}
