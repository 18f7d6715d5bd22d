import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** How a harness starts this program. */
interface Launch {
  readonly command: string
  readonly args: readonly string[]
}

/**
 * This program by absolute paths: harnesses start their servers with a short PATH, or with that of a desktop. A file that a team
 * shares names `rouse` instead, because paths differ between machines.
 */
export function launchOf(scope: 'user' | 'project'): Launch {
  if (scope === 'project') return { command: 'rouse', args: [] }
  const own = fileURLToPath(import.meta.url)
  return { command: process.execPath, args: [join(dirname(own), `../../main${extname(own)}`)] }
}

/** True when npm will remove the program some day: `npx` keeps it in a cache. */
export function isTemporary({ args }: Launch): boolean {
  return args.some((path) => path.split(/[\\/]/).includes('_npx'))
}
