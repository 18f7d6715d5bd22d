import { createHash } from 'node:crypto'
import type { AdapterId } from '../adapter.ts'

/** How the harness of an agent is started, as its user has written it. */
export interface Recipe {
  readonly harness: AdapterId
  /** The program and its arguments. No shell reads them. */
  readonly command: readonly string[]
  /** Absolute, in a directory of the agent. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** How the harness gets the boot prompt: as the last argument, on its standard input, or as the path of a file in the last argument. */
  readonly prompt: (typeof promptWays)[number]
  /** Absent: it needs none. */
  readonly terminal?: 'tmux'
  /** A process that ends within this time has not started, in ms. */
  readonly settleMs: number
}

export const promptWays = ['argument', 'stdin', 'file'] as const

/** The name of a recipe: another command, directory, environment or way is another recipe, which is to be proven again. Pure. */
export function recipeHash({ harness, command, cwd, env, prompt, terminal }: Recipe): string {
  const named = Object.entries(env).sort(([one], [other]) => (one < other ? -1 : 1))
  const text = JSON.stringify([harness, command, cwd, named, prompt, terminal ?? null])
  return createHash('sha256').update(text).digest('hex')
}
